#pragma once

#include <cstdint>
#include <span>

#include "ir/ids.h"

namespace assay::ir {

// ONNX's AttributeProto.AttributeType with its numbers.
enum class AttributeType : uint8_t {
  undefined = 0,
  floating = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  integers = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};

// A named constant of a node. Lists live in the model's arena; a reference names an attribute of the enclosing
// function.
class Attribute {
 public:
  Attribute() = default;

  static Attribute of(Symbol name, int64_t value);
  static Attribute of(Symbol name, float value);
  // A string, tensor, graph, sparse tensor or type, by its id.
  template <typename Tag>
  static Attribute of(Symbol name, AttributeType type, Id<Tag> id) {
    return of_id(name, type, id.index);
  }
  // A list; its items must live as long as the model: take them from Model::arena().
  template <typename T>
  static Attribute list(Symbol name, AttributeType type, std::span<const T> items) {
    Attribute attribute = make(name, type);
    attribute.items_ = items.data();
    attribute.count_ = static_cast<uint32_t>(items.size());
    return attribute;
  }
  static Attribute reference(Symbol name, AttributeType type, Symbol target);

  Symbol name() const { return name_; }
  AttributeType type() const { return type_; }
  bool holds_tensors() const;
  bool is_reference() const { return reference_ != kEmpty; }
  Symbol reference_target() const { return reference_; }
  // Same name, type and content; lists are the same when they are the same memory.
  bool operator==(const Attribute& other) const;
  bool dirty() const { return dirty_; }  // edited: the bytes of the source no longer hold

  // Each getter needs the matching type; lists also answer for the single form, as a list of one, and are empty for
  // references. graphs() is empty for all other types.
  int64_t integer() const;
  float floating() const;
  Symbol string() const;
  TypeId type_value() const;
  std::span<const int64_t> integers() const;
  std::span<const float> floats() const;
  std::span<const Symbol> strings() const;
  std::span<const TensorId> tensors() const;  // tensor(s) and sparse tensor(s)
  std::span<const GraphId> graphs() const;    // graph or graphs
  std::span<const TypeId> types() const;

 private:
  friend class Edit;
  static Attribute make(Symbol name, AttributeType type);
  static Attribute of_id(Symbol name, AttributeType type, uint32_t id);
  template <typename T>
  std::span<const T> items(AttributeType single, AttributeType plural) const;

  Symbol name_ = kEmpty;
  Symbol reference_ = kEmpty;
  AttributeType type_ = AttributeType::undefined;
  bool dirty_ = false;
  uint32_t count_ = 0;
  union {
    int64_t integer_ = 0;
    float floating_;
    uint32_t id_;
    const void* items_;
  };
};

}  // namespace assay::ir
