#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/inference.h"
#include "results/scene.h"

namespace assay::scene {

// Everything that a page tells of types, values and costs, without the inference that found it: it takes a tenth of the
// memory.
struct FoundTypes {
  results::TextColumn texts;                     // all different; the first one is empty: not known
  std::vector<double> bytes;                     // by text; NaN: not known
  std::vector<uint8_t> is_short;                 // by text: a few whole numbers, as shapes are
  std::vector<uint32_t> of_value;                // by value id: a text
  std::vector<double> macs;                      // by node id; NaN: not known
  std::map<ir::ValueId, tensor::Tensor> folded;  // constants that nodes compute

  std::string_view text(ir::ValueId value) const { return texts[of_value[value.index]]; }
};

// `inference` is of the model and has run.
FoundTypes find_types(const ir::Model& model, const ops::Inference& inference);

}  // namespace assay::scene
