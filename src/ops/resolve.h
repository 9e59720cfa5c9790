#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/model.h"
#include "ops/operator.h"
#include "schema/schema.h"

namespace assay::ops {

// The callee of a node.
struct Callee {
  int64_t version = 0;                     // of its domain; 0: the model imports no version of it
  const schema::Schema* schema = nullptr;  // of an operator that is known
  const Operator* op = nullptr;            // of an operator that the reference can run
  const ir::Function* function = nullptr;  // of the model itself; goes before operators
};

// The callees of all nodes of a model, found once. They hold while no function, no version and no node's operator is
// edited.
class Resolver {
 public:
  explicit Resolver(const ir::Model& model);
  const Callee& operator[](ir::NodeId node) const { return callees_[node.index]; }
  // Finds those of nodes that were added since.
  void refresh();
  // That of a node whose operator was edited.
  void refresh(ir::NodeId node) { callees_[node.index] = resolve(model_[node], imports_of(node)); }

 private:
  void resolve_graph(ir::GraphId graph, const std::vector<ir::OpsetImport>& imports);
  const std::vector<ir::OpsetImport>& imports_of(ir::NodeId node) const;
  Callee resolve(const ir::Node& node, const std::vector<ir::OpsetImport>& imports) const;

  const ir::Model& model_;
  std::map<std::tuple<std::string_view, ir::Symbol, ir::Symbol>, const ir::Function*> functions_;
  std::map<ir::GraphId, const ir::Function*> of_body_;
  std::vector<Callee> callees_;  // by node
};

// The reason for which the reference cannot run the node: no such operator, or not in that version. Empty if it can.
std::string refusal(const ir::Model& model, const ir::Node& node, const Callee& callee);

}  // namespace assay::ops
