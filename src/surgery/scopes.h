#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// The order in which names that users type are looked for: in the main graph, then in its bodies, then in functions.
class Scopes {
 public:
  explicit Scopes(const ir::Model& model);

  // Values and nodes of the three, in order.
  std::vector<std::vector<ir::ValueId>> values() const;
  const std::vector<std::vector<ir::NodeId>>& nodes() const { return nodes_; }

  // The node of this name, or that has a result of this name. Error (usage) for an unknown name, with the nearest one,
  // and for one that several nodes have.
  ir::NodeId node(std::string_view name) const;
  // True if one of two graphs is the other or stands in it.
  bool are_nested(ir::GraphId a, ir::GraphId b) const;

 private:
  size_t scope_of(ir::GraphId graph) const;
  std::vector<ir::NodeId> named(std::string_view name) const;

  const ir::Model& model_;
  std::vector<std::vector<ir::NodeId>> nodes_;
};

// Error (usage): the model has no `what` of this name, with the nearest one.
[[noreturn]] void fail_unknown_name(std::string_view what, std::string_view name, std::vector<std::string> known);

}  // namespace assay::surgery
