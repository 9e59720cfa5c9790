#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

enum class TreeOperator : uint8_t { none, regressor, classifier };

// The ensemble of trees that a layer is, if it makes all its results of rows of float32, or of one row, that lie
// plainly.
TreeOperator tree_operator(const Layer& layer);

}  // namespace assay::engine
