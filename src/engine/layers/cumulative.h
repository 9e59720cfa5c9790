#pragma once

#include <optional>

#include "engine/layers/layer.h"

namespace assay::engine {

// A CumSum along a known dim of a tensor that lies plainly.
struct CumulativeForm {
  int64_t axis = 0;
  bool is_exclusive = false;
  bool is_reverse = false;
};

// Nullopt: another layer, or an empty one.
std::optional<CumulativeForm> find_cumulative(const Layer& layer);

}  // namespace assay::engine
