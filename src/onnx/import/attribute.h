#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "ir/edit.h"
#include "onnx/import/tensor.h"
#include "onnx/import/types.h"

namespace assay::onnx {

// Imports AttributeProto messages. Bodies are handed to `import_body`.
class AttributeImporter {
 public:
  using ImportBody = std::function<ir::GraphId(const Message&)>;
  AttributeImporter(ir::Model& model, ir::Edit& edit, TensorImporter& tensors, TypeImporter& types)
      : model_(model), edit_(edit), tensors_(tensors), types_(types) {}

  ir::Attribute import(const Message& message, const ImportBody& import_body);

 private:
  struct Parts;
  void read(const Message& message, Parts& parts, const ImportBody& import_body);
  void read_number(const Field& field, Parts& parts);
  bool read_text(const Field& field, Parts& parts);
  void read_message(const Message& message, const Field& field, Parts& parts, const ImportBody& import_body);
  ir::TensorId import_tensor(const Message& message, bool sparse);
  ir::Attribute make(const Parts& parts);
  void drop_unused(const Parts& parts, const ir::Attribute& attribute);
  template <typename T>
  ir::Attribute make_list(const Parts& parts, const std::vector<T>& items);
  template <typename T>
  ir::Attribute make_single(const Parts& parts, const std::vector<T>& items);
  ir::Symbol symbol(const Field& field, std::string_view name);

  ir::Model& model_;
  ir::Edit& edit_;
  TensorImporter& tensors_;
  TypeImporter& types_;
};

}  // namespace assay::onnx
