#pragma once

#include <cstdint>

#include "engine/devices/cpu/words/word_panels.h"
#include "engine/layers/product_geometry.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {

// The constant of a product as panels. Numbers of float32 that 16 bits hold exactly, as those of models that were
// trained or published so, take 16 bits.
struct NumberPanels {
  enum class Kind : uint8_t { words, bfloat16, float16 };
  Kind kind = Kind::words;
  Buffer bytes;

  uint64_t number_bytes() const { return kind == Kind::words ? sizeof(float) : sizeof(uint16_t); }  // of float32
};

NumberPanels pack_panels(const Layer& layer, const ProductGeometry& geometry);

}  // namespace assay::engine::cpu
