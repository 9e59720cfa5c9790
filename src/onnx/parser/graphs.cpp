#include "onnx/parser/graphs.h"

namespace assay::onnx {

using ir::GraphId;
using ir::NodeId;
using ir::Symbol;

void GraphParser::parse_main_graph() {
  const Symbol name = edit_.intern(lexer_.expect_name("the name of a graph"));
  names_.resolve(parse_graph(name));
}

// Behind its name.
GraphId GraphParser::parse_graph(Symbol name) {
  const TextLexer::Level level(lexer_);
  const GraphId id = edit_.add_graph(name);
  parse_inputs(id);
  lexer_.expect_arrow();
  parse_outputs(id);
  if (lexer_.accept('<')) parse_descriptions(id);
  parse_nodes(id);
  return id;
}

GraphParser::NamedType GraphParser::parse_named_type() {
  NamedType value;
  if (attributes_.types().at_type()) value.type = attributes_.types().parse();
  value.name = edit_.intern(lexer_.expect_name(value.type ? "a name" : "a type or a name"));
  return value;
}

std::vector<GraphParser::NamedType> GraphParser::parse_named_types() {
  std::vector<NamedType> values;
  lexer_.expect('(');
  if (lexer_.accept(')')) return values;
  do {
    values.push_back(parse_named_type());
  } while (lexer_.accept(','));
  lexer_.expect(')');
  return values;
}

// The whole list may be missing.
void GraphParser::parse_inputs(GraphId graph) {
  if (!lexer_.accept('(') || lexer_.accept(')')) return;
  do {
    const NamedType input = parse_named_type();
    edit_.add_input(graph, input.name, input.type);
    if (lexer_.accept('=')) parse_initializer(graph, input);
  } while (lexer_.accept(','));
  lexer_.expect(')');
}

void GraphParser::parse_initializer(GraphId graph, const NamedType& value) {
  names_.add_initializer(graph, value.name, attributes_.tensors().parse(value.type, model_.text(value.name)));
}

void GraphParser::parse_outputs(GraphId graph) {
  const std::vector<NamedType> outputs = parse_named_types();
  set_outputs(graph, outputs);
  for (const NamedType& output : outputs) {
    if (output.type) names_.add_type(graph, output.name, output.type);
  }
}

void GraphParser::set_outputs(GraphId graph, std::span<const NamedType> outputs) {
  std::vector<Symbol> names;
  for (const NamedType& output : outputs) names.push_back(output.name);
  names_.add_operands(model_[graph].outputs_node, names);
}

// Initializers and types of values between `<` and `>`.
void GraphParser::parse_descriptions(GraphId graph) {
  if (lexer_.accept('>')) return;
  do {
    parse_description(graph);
  } while (lexer_.accept(','));
  lexer_.expect('>');
}

void GraphParser::parse_description(GraphId graph) {
  const NamedType value = parse_named_type();
  if (lexer_.accept('=')) {
    parse_initializer(graph, value);
  } else if (!value.type && model_.text(value.name) == "doc_string" && lexer_.accept(':')) {
    edit_.graph(graph).doc = lexer_.expect_quoted("a quoted text");
  } else if (value.type) {
    names_.add_type(graph, value.name, value.type);
  }
}

void GraphParser::parse_nodes(GraphId graph) {
  lexer_.expect('{');
  while (!lexer_.accept('}')) parse_node(graph);
}

// `[name] y, z = domain.Op:overload <attributes> (x)`; the attributes may stand at the end instead.
void GraphParser::parse_node(GraphId graph) {
  ir::NodeSpec spec;
  if (lexer_.accept('[')) {
    if (lexer_.at_name()) spec.name = edit_.keep(lexer_.expect_name("the name of a node"));
    lexer_.expect(']');
  }
  const std::vector<Symbol> results = parse_names();
  lexer_.expect('=');
  parse_operator(spec);
  std::vector<ir::Attribute> attributes;
  if (lexer_.accept('<')) attributes = attributes_.parse_list();
  lexer_.expect('(');
  const std::vector<Symbol> operands = parse_names();
  lexer_.expect(')');
  if (attributes.empty() && lexer_.accept('<')) attributes = attributes_.parse_list();
  spec.results = results;
  spec.attributes = attributes;
  names_.add_operands(edit_.add_node(graph, spec), operands);
}

// The parts before the last point are the domain.
void GraphParser::parse_operator(ir::NodeSpec& spec) {
  std::string domain;
  spec.op = edit_.intern(lexer_.expect_name("an operator"));
  while (lexer_.accept('.')) {
    domain.append(domain.empty() ? "" : ".").append(model_.text(spec.op));
    spec.op = edit_.intern(lexer_.expect_name("an operator"));
  }
  if (!domain.empty()) spec.domain = edit_.intern(domain);
  if (lexer_.accept(':')) spec.overload = edit_.intern(lexer_.expect_name("an overload"));
}

// An operand that is left out is an empty text, or nothing before a comma.
std::vector<Symbol> GraphParser::parse_names() {
  std::vector<Symbol> names;
  do {
    if (lexer_.at_name()) {
      names.push_back(parse_value_name());
    } else if (lexer_.peek() == ',') {
      names.push_back(ir::kEmpty);
    }
  } while (lexer_.accept(','));
  return names;
}

// Values are mostly named in the order of their definition, so the next name is often the next symbol: it is looked at
// before the table is searched, which costs cache misses in a large model.
Symbol GraphParser::parse_value_name() {
  const std::string_view text = lexer_.expect_name("a name");
  const Symbol next{last_name_.index + 1};
  const bool is_next = next.index < model_.symbols().size() && model_.text(next) == text;
  last_name_ = is_next ? next : edit_.intern(text);
  return last_name_;
}

std::vector<ir::OpsetImport> GraphParser::parse_opsets() {
  std::vector<ir::OpsetImport> opsets;
  lexer_.expect('[');
  if (lexer_.accept(']')) return opsets;
  do {
    ir::OpsetImport& opset = opsets.emplace_back();
    opset.domain = edit_.intern(lexer_.expect_quoted("a quoted domain"));
    lexer_.expect(':');
    opset.version = lexer_.expect_integer();
  } while (lexer_.accept(','));
  lexer_.expect(']');
  return opsets;
}

}  // namespace assay::onnx
