#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ir/edit.h"
#include "onnx/import/attribute.h"
#include "onnx/import/tensor.h"
#include "onnx/import/types.h"

namespace assay::onnx {

ir::OpsetImport import_opset(ir::SymbolTable& symbols, const Message& message);

// Imports GraphProto and FunctionProto messages into a model: first all definitions of a graph, then all uses, so that
// a graph that is not sorted resolves too. Bodies see the names around them.
class GraphImporter {
 public:
  GraphImporter(ir::Model& model, ir::Edit& edit, TensorImporter& tensors, Diagnostics& findings)
      : model_(model),
        edit_(edit),
        tensors_(tensors),
        types_(model),
        attributes_(model, edit, tensors, types_),
        findings_(findings) {}

  ir::GraphId import_graph(const Message& message);
  void import_function(const Message& message);

 private:
  // Field numbers that differ between GraphProto and FunctionProto; 0: there is no such field.
  struct Numbers {
    uint32_t input;
    uint32_t node;
  };

  void declare_definitions(const Message& message, Numbers numbers, ir::GraphId graph);
  void declare_graph_part(const Message& message, const Field& field, ir::GraphId graph);
  void declare_input(const Message& message, ir::GraphId graph);
  void declare_initializer(ir::TensorEntry tensor, ir::GraphId graph);
  void declare_node(const Message& message, ir::GraphId graph);
  void describe_all(const Message& message, uint32_t number, ir::GraphId graph);
  void describe(const Message& message, ir::GraphId graph);
  void describe_value(ir::ValueId value, ir::TypeId type);
  void resolve_nodes(const Message& message, ir::GraphId graph);
  void resolve_node(const Message& message, ir::NodeId node);
  ir::ValueId resolve_output(const Message& message, ir::GraphId graph);
  void read_function_header(const Message& message, const Field& field, ir::Function& function);
  void read_function_outputs(const Message& message, ir::GraphId body);

  void bind(ir::Symbol name, ir::ValueId value);
  ir::ValueId lookup(ir::Symbol name) const;
  ir::ValueId resolve(ir::Symbol name, ir::GraphId graph);
  void leave_scope(size_t mark);
  ir::Symbol symbol(const Field& field, std::string_view name);
  ir::Symbol value_name(const Field& field, ir::Symbol& last);

  ir::Model& model_;
  ir::Edit& edit_;
  TensorImporter& tensors_;
  TypeImporter types_;
  AttributeImporter attributes_;
  Diagnostics& findings_;
  std::vector<ir::ValueId> visible_;                          // by symbol: what the name means here
  std::vector<std::pair<ir::Symbol, ir::ValueId>> replaced_;  // meanings of names outside of the bodies
  ir::Symbol last_result_;                                    // names that were read last, see value_name()
  ir::Symbol last_first_;                                     // of the first operands of nodes
  ir::Symbol last_other_;                                     // of their other operands
  std::vector<ir::Symbol> names_;                             // reused while nodes are read
  std::vector<ir::ValueId> operands_;
};

}  // namespace assay::onnx
