#include "ops/node.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/known_dtype.h"

namespace assay::ops {
namespace {

using ir::AttributeType;

template <typename T>
std::vector<T> list_or_default(const schema::AttributeSchema* schema) {
  if (!schema) return {};
  const auto* list = std::get_if<std::vector<T>>(&schema->value);
  return list ? *list : std::vector<T>{};
}

}  // namespace

const ir::Attribute* Node::find(std::string_view name) const {
  const ir::Attribute* attribute = model_.find_attribute(node_, name);
  if (!attribute || !attribute->is_reference()) return attribute;
  if (!scope_) return nullptr;
  const auto bound = scope_->find(attribute->reference_target());
  return bound == scope_->end() ? nullptr : &bound->second;
}

const ir::Attribute* Node::find(std::string_view name, AttributeType type, AttributeType plural) const {
  const ir::Attribute* attribute = find(name);
  if (!attribute || attribute->type() == type || attribute->type() == plural) return attribute;
  fail(ErrorCode::shape, "attribute `{}` has another type than the operator expects", name);
}

const schema::AttributeSchema* Node::find_default(std::string_view name) const {
  return schema_ ? schema_->find_attribute(name) : nullptr;
}

int64_t Node::integer(std::string_view name) const {
  if (const ir::Attribute* written = find(name, AttributeType::integer, AttributeType::integer)) {
    return written->integer();
  }
  const schema::AttributeSchema* schema = find_default(name);
  const int64_t* value = schema ? std::get_if<int64_t>(&schema->value) : nullptr;
  if (!value) fail(ErrorCode::shape, "attribute `{}` is required and missing", name);
  return *value;
}

int64_t Node::integer(std::string_view name, int64_t otherwise) const {
  const schema::AttributeSchema* schema = find_default(name);
  const bool has_default = schema && std::holds_alternative<int64_t>(schema->value);
  return find(name) || has_default ? integer(name) : otherwise;
}

double Node::floating(std::string_view name) const {
  if (const ir::Attribute* written = find(name, AttributeType::floating, AttributeType::floating)) {
    return static_cast<double>(written->floating());
  }
  const schema::AttributeSchema* schema = find_default(name);
  const float* value = schema ? std::get_if<float>(&schema->value) : nullptr;
  if (!value) fail(ErrorCode::shape, "attribute `{}` is required and missing", name);
  return static_cast<double>(*value);
}

double Node::floating(std::string_view name, double otherwise) const {
  const schema::AttributeSchema* schema = find_default(name);
  const bool has_default = schema && std::holds_alternative<float>(schema->value);
  return find(name) || has_default ? floating(name) : otherwise;
}

std::string_view Node::string(std::string_view name) const {
  if (const ir::Attribute* written = find(name, AttributeType::string, AttributeType::string)) {
    return model_.text(written->string());
  }
  const schema::AttributeSchema* schema = find_default(name);
  const std::string_view* value = schema ? std::get_if<std::string_view>(&schema->value) : nullptr;
  if (!value) fail(ErrorCode::shape, "attribute `{}` is required and missing", name);
  return *value;
}

std::string_view Node::string(std::string_view name, std::string_view otherwise) const {
  const schema::AttributeSchema* schema = find_default(name);
  const bool has_default = schema && std::holds_alternative<std::string_view>(schema->value);
  return find(name) || has_default ? string(name) : otherwise;
}

std::vector<int64_t> Node::integers(std::string_view name) const {
  const ir::Attribute* written = find(name, AttributeType::integers, AttributeType::integer);
  if (!written) return list_or_default<int64_t>(find_default(name));
  return {written->integers().begin(), written->integers().end()};
}

std::vector<double> Node::floats(std::string_view name) const {
  const ir::Attribute* written = find(name, AttributeType::floats, AttributeType::floating);
  if (written) return {written->floats().begin(), written->floats().end()};
  const std::vector<float> values = list_or_default<float>(find_default(name));
  return {values.begin(), values.end()};
}

std::vector<std::string_view> Node::strings(std::string_view name) const {
  const ir::Attribute* written = find(name, AttributeType::strings, AttributeType::string);
  if (!written) return list_or_default<std::string_view>(find_default(name));
  std::vector<std::string_view> texts;
  for (const ir::Symbol text : written->strings()) texts.push_back(model_.text(text));
  return texts;
}

const tensor::Tensor* Node::find_tensor(std::string_view name) const {
  const ir::Attribute* written = find(name, AttributeType::tensor, AttributeType::tensor);
  if (!written) return nullptr;
  const tensor::Tensor& value = model_[written->tensors().front()].tensor;
  require_known_dtype(fmt::format("attribute `{}`", name), value);
  return &value;
}

const tensor::Tensor& Node::tensor(std::string_view name) const {
  const tensor::Tensor* value = find_tensor(name);
  if (!value) fail(ErrorCode::shape, "attribute `{}` is required and missing", name);
  return *value;
}

const ir::SparseTensor* Node::find_sparse_tensor(std::string_view name) const {
  const ir::Attribute* written = find(name, AttributeType::sparse_tensor, AttributeType::sparse_tensor);
  if (!written) return nullptr;
  const ir::SparseTensor& value = *model_[written->tensors().front()].sparse;
  require_known_dtype(fmt::format("the values of attribute `{}`", name), value.values);
  require_known_dtype(fmt::format("the indices of attribute `{}`", name), value.indices);
  return &value;
}

ir::GraphId Node::graph(std::string_view name) const {
  const ir::Attribute* written = find(name, AttributeType::graph, AttributeType::graph);
  if (!written) fail(ErrorCode::shape, "attribute `{}` is required and missing", name);
  return written->graphs().front();
}

AttributeScope call_scope(const ir::Function& function, const Node& call) {
  AttributeScope scope;
  for (const ir::Attribute& attribute : function.attribute_defaults) {
    scope.insert_or_assign(attribute.name(), attribute);
  }
  for (const ir::Attribute& attribute : call.ir_node().attributes) {
    const ir::Attribute* bound = call.find(call.model().text(attribute.name()));
    if (bound) scope.insert_or_assign(attribute.name(), *bound);
  }
  return scope;
}

int64_t normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) fail(ErrorCode::shape, "axis {} is out of range for rank {}", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> normalize_axes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) axis = normalize_axis(axis, rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::find(axes.begin(), axes.begin() + static_cast<ptrdiff_t>(i), axes[i]) !=
        axes.begin() + static_cast<ptrdiff_t>(i)) {
      fail(ErrorCode::shape, "axis {} is given twice", axes[i]);
    }
  }
  return axes;
}

}  // namespace assay::ops
