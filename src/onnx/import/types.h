#pragma once

#include <string_view>
#include <unordered_map>

#include "ir/model.h"
#include "onnx/wire.h"

namespace assay::onnx {

// Imports TypeProto messages; equal bytes are parsed once.
class TypeImporter {
 public:
  explicit TypeImporter(ir::Model& model) : model_(model) {}
  // Invalid for a message that says nothing.
  ir::TypeId import(const Message& message);

 private:
  ir::TypeId parse(const Message& message);
  void parse_tensor(const Message& message, ir::Type& type);
  void parse_shape(const Message& message, ir::Type& type);
  void parse_map(const Message& message, ir::Type& type);
  void parse_opaque(const Message& message, ir::Type& type);
  ir::TypeId parse_element(const Message& message);
  ir::DimId parse_dim(const Message& message);
  ir::Symbol symbol(const Field& field, std::string_view name);

  ir::Model& model_;
  std::unordered_map<std::string_view, ir::TypeId> known_;
};

}  // namespace assay::onnx
