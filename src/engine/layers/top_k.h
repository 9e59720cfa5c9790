#pragma once

#include <optional>

#include "engine/layers/layer.h"

namespace assay::engine {

// A TopK of rows that lie side by side.
struct TopKForm {
  int64_t rows = 1, length = 1, count = 1;  // count: of the best elements of a row
  bool takes_largest = true;
  bool gives_values = true, gives_indices = true;
};

// Nullopt: another layer, one without results, or one along another dim than the last.
std::optional<TopKForm> find_top_k(const Layer& layer);

}  // namespace assay::engine
