#include "ir/model.h"

namespace assay::ir {

const Attribute* Model::find_attribute(const Node& node, std::string_view name) const {
  for (const Attribute& attribute : node.attributes) {
    if (text(attribute.name()) == name) return &attribute;
  }
  return nullptr;
}

std::vector<GraphId> Model::bodies(const Node& node) const {
  std::vector<GraphId> result;
  for (const Attribute& attribute : node.attributes) {
    const std::span<const GraphId> graphs = attribute.graphs();
    result.insert(result.end(), graphs.begin(), graphs.end());
  }
  return result;
}

GraphId Model::enclosing(GraphId graph) const {
  const NodeId parent = (*this)[graph].parent;
  return parent ? (*this)[parent].graph : GraphId{};
}

GraphId Model::root(GraphId graph) const {
  while ((*this)[graph].parent) graph = enclosing(graph);
  return graph;
}

NodeId Model::ancestor_in(NodeId node, GraphId graph) const {
  while (node && (*this)[node].graph != graph) node = (*this)[(*this)[node].graph].parent;
  return node;
}

}  // namespace assay::ir
