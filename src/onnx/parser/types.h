#pragma once

#include <optional>
#include <string_view>

#include "ir/edit.h"
#include "onnx/parser/lexer.h"

namespace assay::onnx {

// The element type of this exact name in ONNX text: `float`, `int64`, …
std::optional<tensor::DType> find_text_dtype(std::string_view word);

// True if the word begins a type, if the right thing follows: `float`, `seq`, …
bool is_type_word(std::string_view word);

// Parses types: `float[N, ?, 3]`, `float` (a scalar), `float[]` (of unknown rank), `seq(T)`, `optional(T)`, `map(K,
// T)`, `sparse_tensor(float[3])`, `opaque(domain, name)`, and the extensions that printer.h lists.
class TypeParser {
 public:
  TypeParser(TextLexer& lexer, ir::Model& model, ir::Edit& edit) : lexer_(lexer), model_(model), edit_(edit) {}

  bool at_type();
  ir::TypeId parse();

 private:
  ir::Type parse_kind();
  ir::Type parse_tensor();
  ir::Type parse_wrapped(ir::TypeKind kind);
  ir::Type parse_sparse();
  ir::Type parse_map();
  ir::Type parse_opaque();
  tensor::DType parse_dtype();
  ir::TypeId parse_element();
  void parse_shape(ir::Type& type);
  ir::DimId parse_dim();
  ir::Symbol parse_dotted_name();

  TextLexer& lexer_;
  ir::Model& model_;
  ir::Edit& edit_;
};

}  // namespace assay::onnx
