#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "ir/edit.h"

namespace assay::onnx {

// Keeps what a text says by name until all names are known, and then resolves it as the import of a binary file does:
// bodies see the names around them, the first definition in a graph keeps a name, an unknown name becomes an undefined
// value.
class NameResolver {
 public:
  NameResolver(ir::Model& model, ir::Edit& edit, Diagnostics& findings)
      : model_(model), edit_(edit), findings_(findings) {}

  // The names of a node's operands, or of a graph's outputs (operands of its hidden last node). Once for each node.
  void add_operands(ir::NodeId node, std::span<const ir::Symbol> names);
  void add_initializer(ir::GraphId graph, ir::Symbol name, ir::TensorId tensor);
  // Adds a type; of two types of one name the first one counts.
  void add_type(ir::GraphId graph, ir::Symbol name, ir::TypeId type);

  // Resolves a graph that is nobody's body, and all bodies below it.
  void resolve(ir::GraphId graph);

 private:
  struct Range {
    size_t begin = 0;
    size_t count = 0;
  };
  struct Notes {
    std::vector<std::pair<ir::Symbol, ir::TensorId>> initializers;
    std::vector<std::pair<ir::Symbol, ir::TypeId>> types;
  };

  Notes& notes(ir::GraphId graph);
  void define(ir::GraphId graph);
  void define_initializer(ir::GraphId graph, ir::Symbol name, ir::TensorId tensor);
  void describe(ir::GraphId graph, ir::Symbol name, ir::TypeId type);
  void resolve_operands(ir::NodeId node, ir::GraphId graph);
  void bind(ir::Symbol name, ir::ValueId value);
  ir::ValueId lookup(ir::Symbol name) const;
  ir::ValueId find_or_add(ir::Symbol name, ir::GraphId graph);

  ir::Model& model_;
  ir::Edit& edit_;
  Diagnostics& findings_;
  std::vector<ir::Symbol> names_;                             // of all operands
  std::vector<Range> ranges_;                                 // by node: its operands in names_
  std::vector<Notes> notes_;                                  // by graph
  std::vector<ir::ValueId> visible_;                          // by symbol: what the name means here
  std::vector<std::pair<ir::Symbol, ir::ValueId>> replaced_;  // earlier meanings of names, for leaving a scope
  std::vector<ir::ValueId> operands_;                         // reused
};

}  // namespace assay::onnx
