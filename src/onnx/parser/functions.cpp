#include <fmt/core.h>

#include "onnx/parser/graphs.h"

namespace assay::onnx {

using ir::GraphId;
using ir::Symbol;

// `<header> name <attributes> (inputs) => (outputs) <types> { nodes }`
void GraphParser::parse_function() {
  ir::Function function;
  if (lexer_.accept('<')) parse_function_header(function);
  function.name = edit_.intern(lexer_.expect_name("the name of a function"));
  function.body = edit_.add_graph(function.name);
  if (lexer_.accept('<')) parse_function_attributes(function);
  parse_function_values(function.body);
  parse_nodes(function.body);
  names_.resolve(function.body);
  edit_.add_function(std::move(function));
}

void GraphParser::parse_function_header(ir::Function& function) {
  do {
    parse_function_field(function);
  } while (lexer_.accept(','));
  lexer_.expect('>');
}

void GraphParser::parse_function_field(ir::Function& function) {
  constexpr std::string_view kFields = "opset_import, domain, overload or doc_string";
  const size_t start = lexer_.offset();
  const std::string_view key = lexer_.expect_identifier(kFields);
  lexer_.expect(':');
  if (key == "opset_import") {
    function.opset_imports = parse_opsets();
  } else if (key == "domain") {
    function.domain = edit_.intern(lexer_.expect_quoted("a quoted text"));
  } else if (key == "overload") {
    function.overload = edit_.intern(lexer_.expect_quoted("a quoted text"));
  } else if (key == "doc_string") {
    function.doc = lexer_.expect_quoted("a quoted text");
  } else {
    lexer_.fail_at(start, fmt::format("expected {}, found `{}`", kFields, key));
  }
}

// Names, and attributes with a default.
void GraphParser::parse_function_attributes(ir::Function& function) {
  do {
    const Symbol name = edit_.intern(lexer_.expect_name("the name of an attribute"));
    if (lexer_.peek() == ':' || lexer_.peek() == '=') {
      const ir::Attribute attribute = attributes_.parse(name);
      for (const GraphId body : attribute.graphs()) names_.resolve(body);
      function.attribute_defaults.push_back(attribute);
    } else {
      function.attribute_names.push_back(name);
    }
  } while (lexer_.accept(','));
  lexer_.expect('>');
}

void GraphParser::parse_function_values(GraphId body) {
  std::vector<NamedType> values = parse_named_types();
  for (const NamedType& input : values) edit_.add_input(body, input.name);
  lexer_.expect_arrow();
  const std::vector<NamedType> outputs = parse_named_types();
  set_outputs(body, outputs);
  values.insert(values.end(), outputs.begin(), outputs.end());
  if (lexer_.accept('<') && !lexer_.accept('>')) {
    do {
      values.push_back(parse_named_type());
    } while (lexer_.accept(','));
    lexer_.expect('>');
  }
  for (const NamedType& value : values) {
    if (value.type) names_.add_type(body, value.name, value.type);
  }
}

}  // namespace assay::onnx
