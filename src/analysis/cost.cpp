#include "analysis/cost.h"

namespace assay::analysis {

ops::Dim type_bytes(const ops::Type& type) {
  const uint32_t bits = type.is_tensor() ? tensor::bit_width(type.dtype) : 0;
  if (bits == 0 || !type.dims) return {};
  return ceil_div(ops::product(*type.dims) * ops::Dim(bits), 8);
}

ops::Dim value_bytes(const ir::Model& model, const ops::Inference& inference, ir::ValueId value) {
  if (!value.valid()) return 0;
  ops::Type type = inference.type(value);
  if (const tensor::Tensor* constant = inference.constant(value)) {
    type = ops::Type::tensor(constant->dtype(), ops::dims_of(constant->shape()));
  } else if (model[value].constant.valid()) {
    const tensor::Tensor& tensor = model[model[value].constant].tensor;
    type = ops::Type::tensor(tensor.dtype(), ops::dims_of(tensor.shape()));
  }
  return type_bytes(type);
}

namespace {

ops::Dim bytes_of(const ir::Model& model, const ops::Inference& inference, const ir::Node& node) {
  ops::Dim total = 0;
  for (const ir::Use& use : node.operands) total = total + value_bytes(model, inference, use.value);
  for (const ir::ValueId result : node.results) total = total + value_bytes(model, inference, result);
  return total;
}

}  // namespace

results::Cost node_cost(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  return {inference.macs(node).text(), bytes_of(model, inference, model[node]).text()};
}

results::Cost model_cost(const ir::Model& model, const ops::Inference& inference) {
  ops::Dim macs = 0;
  ops::Dim bytes = 0;
  std::vector<ir::GraphId> pending{model.main_graph()};
  while (!pending.empty()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    for (const ir::NodeId id : ir::nodes(model, graph)) {
      macs = macs + inference.macs(id);
      bytes = bytes + bytes_of(model, inference, model[id]);
      for (const ir::GraphId body : model.bodies(model[id])) pending.push_back(body);
    }
  }
  return {macs.text(), bytes.text()};
}

}  // namespace assay::analysis
