#include <algorithm>
#include <utility>

#include "ir/edit.h"

namespace assay::ir {

void Edit::set_attributes(NodeId id, std::span<const Attribute> attributes) {
  Node& node = model_.nodes_[id];
  const std::vector<GraphId> old_bodies = model_.bodies(node);
  Attribute* items = model_.arena_->allocate<Attribute>(attributes.size());
  for (size_t i = 0; i < attributes.size(); ++i) {
    items[i] = attributes[i];
    const auto same = std::find(node.attributes.begin(), node.attributes.end(), items[i]);
    const bool kept = same != node.attributes.end();
    if (!importing_) items[i].dirty_ = !kept || same->dirty_;
  }
  node.attributes = {items, attributes.size()};
  adopt_bodies(id, old_bodies);
  touch(id);
}

// Takes the bodies that the attributes name now; those that they named before and that nobody else took die.
void Edit::adopt_bodies(NodeId node, std::span<const GraphId> old_bodies) {
  const std::vector<GraphId> bodies = model_.bodies(model_.nodes_[node]);
  for (const GraphId body : bodies) model_.graphs_[body.index].parent = node;
  std::vector<GraphId> lost;
  for (const GraphId body : old_bodies) {
    const bool kept = std::find(bodies.begin(), bodies.end(), body) != bodies.end();
    if (!kept && model_.graphs_[body.index].parent == node) lost.push_back(body);
  }
  kill(std::move(lost));
}

void Edit::set_attribute(NodeId id, Attribute attribute) {
  attribute.dirty_ = !importing_;
  Node& node = model_.nodes_[id];
  for (Attribute& old : node.attributes) {
    if (old.name() != attribute.name()) continue;
    const std::vector<GraphId> old_bodies = model_.bodies(node);
    old = attribute;
    adopt_bodies(id, old_bodies);
    return touch(id);
  }
  std::vector<Attribute> all(node.attributes.begin(), node.attributes.end());
  all.push_back(attribute);
  set_attributes(id, all);
}

Attribute Edit::renamed(Attribute attribute, Symbol name) {
  attribute.name_ = name;
  return attribute;
}

void Edit::remove_attribute(NodeId node, Symbol name) {
  std::vector<Attribute> kept;
  for (const Attribute& attribute : model_.nodes_[node].attributes) {
    if (attribute.name() != name) kept.push_back(attribute);
  }
  if (kept.size() != model_.nodes_[node].attributes.size()) set_attributes(node, kept);
}

}  // namespace assay::ir
