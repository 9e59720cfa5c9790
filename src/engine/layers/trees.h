#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

// True for an operator of ai.onnx.ml that makes all its results of rows of float32, or of one row, that lie plainly.
bool has_rows_of_features(const Layer& layer);

}  // namespace assay::engine
