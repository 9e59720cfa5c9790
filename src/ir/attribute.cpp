#include "ir/attribute.h"

#include "base/check.h"

namespace assay::ir {

Attribute Attribute::make(Symbol name, AttributeType type) {
  Attribute attribute;
  attribute.name_ = name;
  attribute.type_ = type;
  return attribute;
}

Attribute Attribute::of(Symbol name, int64_t value) {
  Attribute attribute = make(name, AttributeType::integer);
  attribute.integer_ = value;
  return attribute;
}

Attribute Attribute::of(Symbol name, float value) {
  Attribute attribute = make(name, AttributeType::floating);
  attribute.floating_ = value;
  return attribute;
}

Attribute Attribute::of_id(Symbol name, AttributeType type, uint32_t id) {
  Attribute attribute = make(name, type);
  attribute.id_ = id;
  return attribute;
}

Attribute Attribute::reference(Symbol name, AttributeType type, Symbol target) {
  Attribute attribute = make(name, type);
  attribute.reference_ = target;
  return attribute;
}

bool Attribute::operator==(const Attribute& other) const {
  return name_ == other.name_ && reference_ == other.reference_ && type_ == other.type_ && count_ == other.count_ &&
         integer_ == other.integer_;
}

bool Attribute::holds_tensors() const {
  switch (type_) {
    case AttributeType::tensor:
    case AttributeType::tensors:
    case AttributeType::sparse_tensor:
    case AttributeType::sparse_tensors:
      return true;
    default:
      return false;
  }
}

int64_t Attribute::integer() const {
  ASSAY_CHECK(type_ == AttributeType::integer);
  return integer_;
}

float Attribute::floating() const {
  ASSAY_CHECK(type_ == AttributeType::floating);
  return floating_;
}

Symbol Attribute::string() const {
  ASSAY_CHECK(type_ == AttributeType::string);
  return Symbol{id_};
}

TypeId Attribute::type_value() const {
  ASSAY_CHECK(type_ == AttributeType::type);
  return TypeId{id_};
}

// A single id is stored in the word that a list of ids would point to.
template <typename T>
std::span<const T> Attribute::items(AttributeType single, AttributeType plural) const {
  if (is_reference()) return {};
  if (type_ == single) return {reinterpret_cast<const T*>(&integer_), 1};
  ASSAY_CHECK(type_ == plural);
  return {static_cast<const T*>(items_), count_};
}

std::span<const int64_t> Attribute::integers() const {
  return items<int64_t>(AttributeType::integer, AttributeType::integers);
}

std::span<const float> Attribute::floats() const {
  return items<float>(AttributeType::floating, AttributeType::floats);
}

std::span<const Symbol> Attribute::strings() const {
  return items<Symbol>(AttributeType::string, AttributeType::strings);
}

std::span<const TensorId> Attribute::tensors() const {
  const bool sparse = type_ == AttributeType::sparse_tensor || type_ == AttributeType::sparse_tensors;
  if (sparse) return items<TensorId>(AttributeType::sparse_tensor, AttributeType::sparse_tensors);
  return items<TensorId>(AttributeType::tensor, AttributeType::tensors);
}

std::span<const GraphId> Attribute::graphs() const {
  const bool holds_graphs = type_ == AttributeType::graph || type_ == AttributeType::graphs;
  if (!holds_graphs) return {};
  return items<GraphId>(AttributeType::graph, AttributeType::graphs);
}

std::span<const TypeId> Attribute::types() const { return items<TypeId>(AttributeType::type, AttributeType::types); }

}  // namespace assay::ir
