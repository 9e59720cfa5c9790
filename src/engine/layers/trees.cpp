#include "engine/layers/trees.h"

#include <algorithm>

namespace assay::engine {

TreeOperator tree_operator(const Layer& layer) {
  const bool is_ml = layer.is_single() && layer.model->text((*layer.model)[layer.nodes[0]].domain) == "ai.onnx.ml";
  if (!is_ml || !std::ranges::all_of(layer.outputs, &TensorDesc::exists)) return TreeOperator::none;
  const TensorDesc& in = layer.inputs[0];
  const bool has_rows = in.dtype == tensor::DType::float32 && has_layout(in, Layout::plain) && in.count() > 0 &&
                        (in.dims.size() == 1 || in.dims.size() == 2);
  const std::string_view op = layer.op(layer.nodes[0]);
  if (has_rows && op == "TreeEnsembleRegressor") return TreeOperator::regressor;
  const bool is_classifier = has_rows && op == "TreeEnsembleClassifier" && layer.outputs.size() == 2;
  return is_classifier ? TreeOperator::classifier : TreeOperator::none;
}

}  // namespace assay::engine
