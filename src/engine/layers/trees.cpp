#include "engine/layers/trees.h"

#include <algorithm>

namespace assay::engine {

bool has_rows_of_features(const Layer& layer) {
  const bool is_ml = layer.is_single() && layer.model->text((*layer.model)[layer.nodes[0]].domain) == "ai.onnx.ml";
  if (!is_ml || !std::ranges::all_of(layer.outputs, &TensorDesc::exists)) return false;
  const TensorDesc& in = layer.inputs[0];
  return in.dtype == tensor::DType::float32 && has_layout(in, Layout::plain) && in.count() > 0 &&
         (in.dims.size() == 1 || in.dims.size() == 2);
}

}  // namespace assay::engine
