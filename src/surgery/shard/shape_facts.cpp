#include "surgery/shard/shape_facts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "ir/queries.h"
#include "ir/verify.h"
#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::surgery {

using ir::NodeId;
using ir::ValueId;

std::optional<int64_t> ShapeFacts::rank(ValueId value) const {
  if (!value) return std::nullopt;
  if (const tensor::Tensor* const tensor = constant(value)) return static_cast<int64_t>(tensor->shape().size());
  const std::optional<ops::Dims>& dims = inference_.type(value).dims;
  return dims ? std::optional(static_cast<int64_t>(dims->size())) : std::nullopt;
}

std::optional<int64_t> ShapeFacts::dim(ValueId value, int64_t from_end) const {
  if (!value || from_end < 1) return std::nullopt;
  const size_t place = static_cast<size_t>(from_end);
  if (const tensor::Tensor* const tensor = constant(value)) {
    const tensor::Shape& shape = tensor->shape();
    return place <= shape.size() ? std::optional(shape[shape.size() - place]) : std::nullopt;
  }
  const std::optional<ops::Dims>& dims = inference_.type(value).dims;
  if (!dims || place > dims->size()) return std::nullopt;
  return (*dims)[dims->size() - place].number();
}

ops::Dims ShapeFacts::dims(ValueId value) const {
  if (!value) return {};
  if (const tensor::Tensor* const tensor = constant(value)) return ops::dims_of(tensor->shape());
  return inference_.type(value).dims.value_or(ops::Dims());
}

bool ShapeFacts::is_same_dim(ValueId a, ValueId b, int64_t from_end) const {
  const std::optional<ops::Dims>& x = inference_.type(a).dims;
  const std::optional<ops::Dims>& y = inference_.type(b).dims;
  const size_t place = static_cast<size_t>(from_end);
  return x && y && place <= x->size() && place <= y->size() && (*x)[x->size() - place].equals((*y)[y->size() - place]);
}

// Products give the width of their weights, attention plugins that of Q; all else keeps that of its first operand, or
// is not asked for.
std::optional<int64_t> ShapeFacts::width(ValueId value) const {
  constexpr int kMostSteps = 64;
  for (int step = 0; value && step < kMostSteps; ++step) {
    if (rank(value)) return dim(value, 1);
    const NodeId producer = model_[value].producer;
    const std::string_view name = producer ? op(producer) : std::string_view();
    if (name == "MatMul" && is_weight(operand(producer, 1))) {
      value = operand(producer, 1);
    } else if (name == "AttentionPlugin") {
      const NodeId stack = find_stack(producer);
      value = operand(stack ? stack : producer, 0);
    } else if (name == "Add" || (producer && (traits(producer).is_cast() || traits(producer).is_identity))) {
      value = operand(producer, constant(operand(producer, 0)) ? 1 : 0);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

NodeId ShapeFacts::find_stack(NodeId node) const {
  const ValueId value = operand(node, 0);
  const NodeId concat = value ? model_[value].producer : NodeId{};
  if (!concat || op(concat) != "Concat" || model_[concat].operands.size() != 3) return {};
  const int64_t axis = attributes(concat).integer("axis");
  const std::optional<int64_t> known = rank(operand(concat, 0));
  return axis == -1 || (known && axis == *known - 1) ? concat : NodeId{};
}

int64_t ShapeFacts::axis_from_end(NodeId node, int64_t axis) const {
  constexpr int64_t kMostDims = 64;
  if (axis < -kMostDims || axis >= kMostDims) fail(ErrorCode::unsupported, "the axis {} is out of range", axis);
  if (axis < 0) return -axis;
  const ValueId value = operand(node, 0);
  const std::optional<int64_t> known = rank(value);
  if (!known) fail(ErrorCode::unsupported, "the rank of what {} reads is not known", ir::describe(model_, node));
  return *known - axis;
}

std::optional<std::vector<std::optional<int64_t>>> ShapeFacts::elements(ValueId value) const {
  constexpr uint64_t kMostElements = 64;
  if (const tensor::Tensor* const tensor = constant(value)) {
    if (!tensor::is_integer(tensor->dtype()) || tensor->count() > kMostElements) return std::nullopt;
    const std::vector<int64_t> numbers = tensor::load_elements<int64_t>(*tensor);
    return std::vector<std::optional<int64_t>>(numbers.begin(), numbers.end());
  }
  const ops::Elements* const known = value ? inference_.elements(value) : nullptr;
  if (!known) return std::nullopt;
  std::vector<std::optional<int64_t>> numbers;
  for (const ops::Dim& item : known->items) numbers.push_back(item.number());
  return numbers;
}

std::optional<double> ShapeFacts::number(ValueId value, int most_steps) const {
  if (!value || most_steps == 0) return std::nullopt;
  const tensor::Tensor* tensor = constant(value);
  if (!tensor) tensor = inference_.constant(value);
  if (tensor) {
    const bool is_number =
        tensor->count() == 1 && (tensor::is_floating(tensor->dtype()) || tensor::is_integer(tensor->dtype()));
    return is_number ? std::optional(tensor::load_elements<double>(*tensor)[0]) : std::nullopt;
  }
  if (const ops::Elements* const known = inference_.elements(value)) {
    const std::optional<int64_t> item = known->items.size() == 1 ? known->items[0].number() : std::nullopt;
    return item ? std::optional(static_cast<double>(*item)) : std::nullopt;
  }
  return model_[value].producer ? computed_number(model_[value].producer, most_steps - 1) : std::nullopt;
}

std::optional<double> ShapeFacts::computed_number(NodeId node, int most_steps) const {
  const std::string_view name = op(node);
  const bool is_cast = traits(node).is_cast() && tensor::is_floating(inference_.type(model_[node].results[0]).dtype);
  const std::optional<double> a = number(operand(node, 0), most_steps);
  if (!a) return std::nullopt;
  if (traits(node).is_identity || is_cast) return a;
  if (name == "Sqrt") return std::sqrt(*a);
  if (name == "Reciprocal") return 1 / *a;
  const std::optional<double> b = number(operand(node, 1), most_steps);
  if (!b) return std::nullopt;
  if (name == "Pow") return std::pow(*a, *b);
  if (name == "Mul") return *a * *b;
  return name == "Div" ? std::optional(*a / *b) : std::nullopt;
}

const tensor::Tensor* ShapeFacts::constant(ValueId value) const {
  if (!value) return nullptr;
  ir::TensorId id;
  if (model_[value].kind == ir::ValueKind::initializer) id = model_[value].constant;
  const NodeId producer = model_[value].producer;
  if (producer && ir::is_constant_node(model_, producer)) {
    const ir::Attribute* const attribute = model_.find_attribute(model_[producer], "value");
    if (attribute && attribute->type() == ir::AttributeType::tensor) id = attribute->tensors()[0];
  }
  if (!id || model_[id].sparse || model_[id].stripped) return nullptr;
  return tensor::bit_width(model_[id].tensor.dtype()) > 0 ? &model_[id].tensor : nullptr;
}

bool ShapeFacts::is_seen_through(NodeId node) const {
  const ops::Traits& found = traits(node);
  return found.is(ops::Nature::quantization) || found.is(ops::Nature::conversion) || found.is_identity ||
         op(node) == "Transpose";
}

bool ShapeFacts::is_weight(ValueId value) const {
  constexpr int kMostSteps = 16;
  for (int step = 0; value && step < kMostSteps; ++step) {
    if (constant(value)) return true;
    const NodeId producer = model_[value].producer;
    if (!producer || !is_seen_through(producer)) return false;
    value = operand(producer, 0);
  }
  return false;
}

const ops::Traits& ShapeFacts::traits(NodeId node) const { return ops::traits(domain(node), op(node)); }

std::string_view ShapeFacts::op(NodeId node) const {
  return inference_.callees()[node].function ? std::string_view() : model_.text(model_[node].op);
}

std::string_view ShapeFacts::domain(NodeId node) const {
  return schema::canonical_domain(model_.text(model_[node].domain));
}

ops::Node ShapeFacts::attributes(NodeId node) const {
  const ops::Callee& callee = inference_.callees()[node];
  return {model_, model_[node], callee.schema, callee.version, nullptr};
}

ValueId ShapeFacts::operand(NodeId node, uint32_t index) const {
  const ir::Node& facts = model_[node];
  return index < facts.operands.size() ? facts.operands[index].value : ValueId{};
}

ValueId ShapeFacts::before_cast(ValueId value) const {
  const NodeId producer = value ? model_[value].producer : NodeId();
  return producer && traits(producer).is_cast() ? operand(producer, 0) : value;
}

std::vector<ir::Use> ShapeFacts::casts_to_outputs(ValueId value) const {
  std::vector<ir::Use> casts;
  for (const ir::Use& use : ir::uses(model_, value)) {
    const ir::Node& reader = model_[use.user];
    const bool is_cast = !reader.is_outputs && traits(use.user).is_cast();
    if (is_cast && ir::is_output(model_, reader.results[0])) casts.push_back(use);
  }
  return casts;
}

}  // namespace assay::surgery
