#include "engine/layers/elementwise.h"

#include <algorithm>

#include "engine/layers/element_op.h"
#include "engine/layers/float8_pair.h"
#include "engine/layers/quantization.h"

namespace assay::engine {
namespace {

// True if a node has the form of one that is computed element by element.
bool has_simple_form(std::string_view op, const ir::Node& node, int64_t version) {
  const std::optional<ElementOp> code = element_op(op, version);
  if (!code || *code > kLastOfFloats) return false;
  if (code == ElementOp::maximum || code == ElementOp::minimum) return node.operands.size() == 2;
  return node.operands.size() <= 3 && node.results.size() == 1;
}

bool has_known_dims(const ops::Inference& inference, ir::ValueId value) {
  const ops::Type& type = inference.type(value);
  return type.is_tensor() && type.dims &&
         std::ranges::all_of(*type.dims, [](const ops::Dim& dim) { return dim.is_number(); });
}

}  // namespace

bool is_elementwise(const ops::Inference& inference, const ir::Model& model, ir::NodeId id) {
  const ir::Node& node = model[id];
  const bool is_coded = is_quantizer(model, inference, id) || is_of_float8_pair(model, inference, id);
  if (!node.is_outputs && is_coded) return has_known_dims(inference, node.results.front());
  if (node.is_outputs || !model.text(node.domain).empty() || inference.callees()[id].op == nullptr) return false;
  if (!has_simple_form(model.text(node.op), node, inference.callees()[id].version)) return false;
  const auto has_type = [](tensor::DType dtype) {
    return dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16 || dtype == tensor::DType::float16 ||
           dtype == tensor::DType::boolean;
  };
  const auto is_known = [&](ir::ValueId value) {
    const ir::TensorId constant = model[value].constant;
    if (model[value].kind == ir::ValueKind::initializer && constant.valid() && !model[constant].sparse) {
      return has_type(model[constant].tensor.dtype());
    }
    const ops::Type& type = inference.type(value);
    return type.is_tensor() && has_type(type.dtype) && has_known_dims(inference, value);
  };
  for (const ir::Use& use : node.operands) {
    if (use.value.valid() && !is_known(use.value)) return false;
  }
  return is_known(node.results.front());
}

}  // namespace assay::engine
