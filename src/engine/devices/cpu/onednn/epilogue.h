#pragma once

#include <optional>

#include "engine/devices/cpu/onednn/operation.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/quantization.h"

namespace assay::engine::cpu::onednn {

// What follows a product in its layer: operations that the library appends itself, and a tape for the rest.
struct Epilogue {
  int added = -1;  // an input of the layer that lies like its result; -1: none
  Eltwise eltwise;
  std::optional<Quantizer> quantizer;  // of products of integers: the library makes these codes of the result
  Tape tape;
};

// Of layer.nodes after the first `done`. The library adds a tensor itself where it may. Nullopt: no tape computes them.
std::optional<Epilogue> make_epilogue(const Layer& layer, bool adds, size_t done = 1);

}  // namespace assay::engine::cpu::onednn
