#include "convert/precision/float_values.h"

#include <algorithm>
#include <array>

#include "ir/queries.h"
#include "ops/inference.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

Holds holds_dtype(DType dtype, DType half) {
  if (dtype == half) return Holds::half;
  if (dtype == DType::undefined) return Holds::unknown;
  if (dtype == DType::float32) return Holds::float32;
  return tensor::is_integer(dtype) || dtype == DType::boolean ? Holds::integer : Holds::other;
}

Holds holds_type(const ops::Type& type, DType half) {
  if (!type.known) return Holds::unknown;
  if (!type.is_tensor()) return type.kind == ir::TypeKind::sparse_tensor ? Holds::other : Holds::list;
  return holds_dtype(type.dtype, half);
}

uint64_t count_of(const ops::Type& type) {
  const ops::Dim count = type.is_tensor() && type.dims ? ops::product(*type.dims) : ops::Dim();
  return static_cast<uint64_t>(std::max<int64_t>(0, count.number().value_or(0)));
}

Holds holds_tensor(const ir::TensorEntry& entry, DType half) {
  return holds_dtype(entry.sparse ? entry.sparse->values.dtype() : entry.tensor.dtype(), half);
}

std::optional<Tensor> constant_of(const ir::Model& model, ir::NodeId id) {
  if (!ir::is_constant_node(model, id)) return std::nullopt;
  const ir::Node& node = model[id];
  for (const ir::Attribute& attribute : node.attributes) {
    if (attribute.is_reference()) return std::nullopt;
    const std::string_view name = model.text(attribute.name());
    if (name == "value" && attribute.type() == ir::AttributeType::tensor) {
      return model[attribute.tensors()[0]].tensor;
    }
    const bool is_scalar = name == "value_float" && attribute.type() == ir::AttributeType::floating;
    const bool is_list = name == "value_floats" && attribute.type() == ir::AttributeType::floats;
    if (!is_scalar && !is_list) continue;
    const std::span<const float> values = attribute.floats();
    tensor::Shape shape;
    if (is_list) shape.push_back(static_cast<int64_t>(values.size()));
    return tensor::make_tensor(DType::float32, std::move(shape), values);
  }
  return std::nullopt;
}

std::vector<ir::NodeId> nodes_of_main(const ir::Model& model) {
  std::vector<ir::NodeId> nodes;
  std::vector<ir::GraphId> graphs{model.main_graph()};
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const ir::NodeId node : ir::nodes(model, graphs[i])) {
      nodes.push_back(node);
      const std::vector<ir::GraphId> bodies = model.bodies(model[node]);
      graphs.insert(graphs.end(), bodies.begin(), bodies.end());
    }
  }
  return nodes;
}

// The terms of each sum of a product, as far as they are known.
std::optional<int64_t> term_count(const ops::Inference& inference, const ir::Node& node, const ops::Dim& macs) {
  if (node.operands.size() < 2 || node.results.empty()) return std::nullopt;
  const std::optional<ops::Dims>& result = inference.type(node.results[0]).dims;
  if (result && macs.equals(ops::product(*result))) return 1;
  const std::optional<ops::Dims>& rows = inference.type(node.operands[0].value).dims;
  return rows && !rows->empty() ? rows->back().number() : std::nullopt;
}

bool is_heavy_node(const ir::Model& model, const ops::Inference& inference, ir::NodeId id) {
  constexpr int64_t kMostTerms = 4;  // of a position in space, with the 1 that a shift is multiplied with
  const ops::Operator* op = inference.callees()[id].op;
  if (!op || !op->macs) return false;
  const ir::Node& node = model[id];
  const ops::ProductKind product = ops::traits(model, id).product;
  if (product != ops::ProductKind::matrices && product != ops::ProductKind::contraction) return true;
  return term_count(inference, node, inference.macs(id)).value_or(kMostTerms + 1) > kMostTerms;
}

}  // namespace

FloatModel::FloatModel(const ir::Model& model, DType half) : callees(model), nodes(nodes_of_main(model)) {
  ops::Inference inference(model);
  inference.run();
  is_heavy.resize(model.node_slots());
  for (const ir::NodeId node : nodes) is_heavy[node.index] = is_heavy_node(model, inference, node);
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    const bool is_initializer = value.alive && value.kind == ir::ValueKind::initializer;
    const ops::Type& type = inference.type(ir::ValueId{i});
    const Holds other = value.alive ? holds_type(type, half) : Holds::other;
    holds.push_back(is_initializer ? holds_tensor(model[value.constant], half) : other);
    dtypes.push_back(type.is_tensor() ? type.dtype : DType::undefined);
    if (is_initializer) dtypes.back() = model[value.constant].tensor.dtype();
    counts.push_back(count_of(type));
  }
}

std::optional<Tensor> float_constant(const ir::Model& model, ir::ValueId id, DType dtype) {
  constexpr int64_t kFirstWithoutInputs = 4;
  const ir::Value& value = model[id];
  std::optional<Tensor> found;
  const bool is_old_weight =
      value.kind == ir::ValueKind::input && value.constant.valid() && model.header().ir_version < kFirstWithoutInputs;
  if (value.kind == ir::ValueKind::initializer || is_old_weight) {
    const ir::TensorEntry& entry = model[value.constant];
    if (!entry.sparse) found = entry.tensor;
  } else if (value.kind == ir::ValueKind::result) {
    found = constant_of(model, value.producer);
  }
  if (found && found->dtype() != dtype) found.reset();
  return found;
}

}  // namespace assay::convert
