#pragma once

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/layers/compressed_product.h"

namespace assay::engine::cuda {

// A layer that begins with a product of compressed weights, whose operands lie plainly.
struct CompressedLayer {
  const CompressedForm& form;
  size_t data;
  int64_t rows;
  ElementSite site;
};
// Nullopt: another layer, or one whose operands lie otherwise.
std::optional<CompressedLayer> find_layer_of_codes(const Layer& layer);

}  // namespace assay::engine::cuda
