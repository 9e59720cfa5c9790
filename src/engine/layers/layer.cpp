#include "engine/layers/layer.h"

#include <algorithm>

#include "ir/queries.h"
#include "ir/verify.h"

namespace assay::engine {
const tensor::Tensor* constant_of(const ir::Model& model, const ops::Inference& inference, ir::ValueId value) {
  const ir::Value& facts = model[value];
  const bool is_fixed = facts.kind == ir::ValueKind::initializer && facts.constant.valid();
  if (is_fixed && !model[facts.constant].sparse) return &model[facts.constant].tensor;
  return inference.constant(value);
}

std::optional<TensorDesc> find_desc(const ir::Model& model, const ops::Inference& inference, ir::ValueId value) {
  if (const tensor::Tensor* const constant = constant_of(model, inference, value)) {
    if (tensor::bit_width(constant->dtype()) < 8) return std::nullopt;
    return make_desc(constant->dtype(), constant->shape());
  }
  constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // so that sums of sizes do not overflow
  const ops::Type& type = inference.type(value);
  if (!type.is_tensor() || !type.dims || tensor::bit_width(type.dtype) < 8) return std::nullopt;
  tensor::Shape dims;
  for (const ops::Dim& dim : *type.dims) {
    const std::optional<int64_t> size = dim.number();
    if (!size || *size < 0) return std::nullopt;
    dims.push_back(*size);
  }
  const std::optional<uint64_t> count = tensor::element_count(dims);
  const std::optional<uint64_t> bytes = count ? tensor::packed_bytes(type.dtype, *count) : std::nullopt;
  if (!bytes || *bytes > kMostBytes) return std::nullopt;
  return make_desc(type.dtype, std::move(dims));
}

bool Layer::starts_with(std::string_view wanted) const {
  return op(nodes.front()) == wanted && model->text((*model)[nodes.front()].domain).empty();
}

ops::Node node_facts(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  const ops::Callee& callee = inference.callees()[node];
  return {model, model[node], callee.schema, callee.version, nullptr};
}

bool Layer::lies_plainly() const {
  const auto is_plain = [](const TensorDesc& desc) { return !desc.exists() || has_layout(desc, Layout::plain); };
  return std::ranges::all_of(inputs, is_plain) && std::ranges::all_of(outputs, is_plain);
}

ops::Node Layer::facts(ir::NodeId id) const { return node_facts(*model, *inference, id); }

ir::ValueId Layer::operand(ir::NodeId id, uint32_t index) const { return ir::operand(*model, id, index); }

ir::ValueId Layer::result(ir::NodeId id, uint32_t index) const { return ir::result(*model, id, index); }

int Layer::input_of(ir::ValueId value) const {
  const auto found = std::ranges::find(input_values, value);
  return found == input_values.end() ? -1 : static_cast<int>(found - input_values.begin());
}

const tensor::Tensor* Layer::constant(ir::ValueId value) const {
  if (!value.valid()) return nullptr;
  const int input = input_of(value);
  return input >= 0 ? constants[static_cast<size_t>(input)] : constant_of(*model, *inference, value);
}

TensorDesc Layer::desc_of(ir::ValueId value) const {
  return find_desc(*model, *inference, value).value_or(TensorDesc());
}

ir::NodeId only_user(const ir::Model& model, ir::ValueId value) {
  ir::NodeId user;
  if (!value.valid()) return user;
  for (const ir::Use& use : ir::uses(model, value)) {
    if (user.valid() || model[use.user].is_outputs || model[use.user].graph != model.main_graph()) return {};
    user = use.user;
  }
  return user;
}

std::optional<Layer> find_layer(const ir::Model& model, const ops::Inference& inference, ir::NodeId id) {
  const ir::Node& node = model[id];
  if (!model.bodies(node).empty()) return std::nullopt;
  Layer layer{.model = &model, .inference = &inference, .node = id};
  const ir::Function* const function = inference.callees()[id].function;
  const bool is_formed = function != nullptr;  // of layers that take constants of less than a byte
  for (const ir::Use& use : node.operands) {
    layer.inputs.emplace_back();
    layer.constants.push_back(nullptr);
    layer.input_values.push_back(use.value);
    if (!use.value.valid()) continue;
    const tensor::Tensor* const constant = constant_of(model, inference, use.value);
    std::optional<TensorDesc> desc = find_desc(model, inference, use.value);
    if (constant != nullptr && is_formed) desc = make_desc(constant->dtype(), constant->shape());
    if (!desc) return std::nullopt;
    layer.inputs.back() = *desc;
    layer.constants.back() = constant;
  }
  for (const ir::ValueId result : node.results) {
    layer.outputs.emplace_back();
    layer.output_values.push_back(result);
    if (!result.valid()) continue;
    const std::optional<TensorDesc> desc = find_desc(model, inference, result);
    if (!desc) return std::nullopt;
    layer.outputs.back() = *desc;
  }
  if (function == nullptr) {
    layer.nodes = {id};
    return layer;
  }
  const std::vector<ir::ValueId>& formal = model[function->body].inputs;
  layer.input_values.assign(formal.begin(),
                            formal.begin() + static_cast<ptrdiff_t>(std::min(formal.size(), node.operands.size())));
  layer.output_values.clear();
  for (const ir::Use& use : model.outputs(function->body)) layer.output_values.push_back(use.value);
  for (const ir::NodeId inner : ir::nodes(model, function->body)) layer.nodes.push_back(inner);
  if (layer.nodes.empty() || layer.output_values.size() < layer.outputs.size()) return std::nullopt;
  return layer;
}

}  // namespace assay::engine
