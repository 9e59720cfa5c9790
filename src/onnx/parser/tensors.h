#pragma once

#include <string_view>

#include "ir/edit.h"
#include "onnx/parser/external.h"
#include "onnx/parser/lexer.h"
#include "onnx/parser/types.h"

namespace assay::onnx {

// Parses what stands behind the type of a tensor: its elements `{1, 2}`, its place in another file
// `["location": "w.bin"]`, or the two parts of a sparse tensor `{float[2] {1, 2}, int64[2] {0, 5}}`.
class TensorParser {
 public:
  TensorParser(TextLexer& lexer, ir::Model& model, ir::Edit& edit, TypeParser& types)
      : lexer_(lexer), model_(model), edit_(edit), types_(types) {}

  // The name must hold as long as the model.
  ir::TensorId parse(ir::TypeId type, std::string_view name);

 private:
  tensor::Shape concrete_shape(const ir::Type& type);
  tensor::Tensor parse_part();
  void parse_sparse(const ir::Type& type, ir::TensorEntry& entry);
  void parse_external(const ir::Type& type, ir::TensorEntry& entry);
  TextExternalStorage::Entries parse_entries();

  TextLexer& lexer_;
  ir::Model& model_;
  ir::Edit& edit_;
  TypeParser& types_;
};

}  // namespace assay::onnx
