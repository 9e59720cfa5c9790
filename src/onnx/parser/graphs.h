#pragma once

#include <vector>

#include "ir/edit.h"
#include "onnx/parser/attributes.h"
#include "onnx/parser/lexer.h"
#include "onnx/parser/names.h"

namespace assay::onnx {

// Parses graphs, nodes and functions into a model.
class GraphParser {
 public:
  GraphParser(TextLexer& lexer, ir::Model& model, ir::Edit& edit, Diagnostics& findings)
      : lexer_(lexer),
        model_(model),
        edit_(edit),
        names_(model, edit, findings),
        attributes_(lexer, model, edit, [this](ir::Symbol name) { return parse_graph(name); }) {}

  void parse_main_graph();
  void parse_function();
  std::vector<ir::OpsetImport> parse_opsets();

 private:
  struct NamedType {
    ir::Symbol name = ir::kEmpty;
    ir::TypeId type;
  };

  ir::GraphId parse_graph(ir::Symbol name);
  NamedType parse_named_type();
  std::vector<NamedType> parse_named_types();
  void parse_inputs(ir::GraphId graph);
  void parse_outputs(ir::GraphId graph);
  void parse_descriptions(ir::GraphId graph);
  void parse_description(ir::GraphId graph);
  void parse_initializer(ir::GraphId graph, const NamedType& value);
  void set_outputs(ir::GraphId graph, std::span<const NamedType> outputs);

  void parse_nodes(ir::GraphId graph);
  void parse_node(ir::GraphId graph);
  void parse_operator(ir::NodeSpec& spec);
  std::vector<ir::Symbol> parse_names();
  ir::Symbol parse_value_name();

  void parse_function_header(ir::Function& function);
  void parse_function_field(ir::Function& function);
  void parse_function_attributes(ir::Function& function);
  void parse_function_values(ir::GraphId body);

  TextLexer& lexer_;
  ir::Model& model_;
  ir::Edit& edit_;
  NameResolver names_;
  AttributeParser attributes_;
  ir::Symbol last_name_ = ir::kEmpty;
};

}  // namespace assay::onnx
