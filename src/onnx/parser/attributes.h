#pragma once

#include <functional>
#include <string_view>

#include "ir/edit.h"
#include "onnx/parser/lexer.h"
#include "onnx/parser/tensors.h"
#include "onnx/parser/types.h"

namespace assay::onnx {

// The word for a type of attributes: `int`, `tensors`, …
std::string_view attribute_type_word(ir::AttributeType type);

// Parses attributes: `axis = 1`, `axes: ints = []`, `alpha: float = @beta`. Bodies are handed to `parse_body`, which
// begins behind their names.
class AttributeParser {
 public:
  using ParseBody = std::function<ir::GraphId(ir::Symbol name)>;
  AttributeParser(TextLexer& lexer, ir::Model& model, ir::Edit& edit, ParseBody parse_body)
      : lexer_(lexer),
        model_(model),
        edit_(edit),
        types_(lexer, model, edit),
        tensors_(lexer, model, edit, types_),
        parse_body_(std::move(parse_body)) {}

  // `<a = 1, b = 2>` behind its `<`.
  std::vector<ir::Attribute> parse_list();
  // One attribute behind its name.
  ir::Attribute parse(ir::Symbol name);
  TypeParser& types() { return types_; }
  TensorParser& tensors() { return tensors_; }

 private:
  ir::AttributeType parse_type();
  ir::AttributeType expect_item_type(ir::AttributeType list);
  ir::Attribute parse_items(ir::Symbol name, ir::AttributeType type);
  ir::Attribute parse_end(ir::Symbol name, ir::AttributeType type);
  template <typename T, typename Get>
  ir::Attribute parse_rest(const ir::Attribute& first, Get&& get);
  ir::Attribute parse_item(ir::Symbol name, ir::AttributeType expected);
  ir::Attribute parse_single(ir::Symbol name, ir::AttributeType expected);
  ir::Attribute parse_value(ir::Symbol name, ir::AttributeType expected);
  ir::Attribute parse_number(ir::Symbol name, ir::AttributeType expected);
  ir::Attribute parse_quoted(ir::Symbol name);
  ir::Attribute parse_word(ir::Symbol name);
  ir::Attribute parse_type_or_tensor(ir::Symbol name);
  ir::Attribute parse_reference(ir::Symbol name, ir::AttributeType type);

  TextLexer& lexer_;
  ir::Model& model_;
  ir::Edit& edit_;
  TypeParser types_;
  TensorParser tensors_;
  ParseBody parse_body_;
};

}  // namespace assay::onnx
