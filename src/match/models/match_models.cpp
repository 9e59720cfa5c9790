#include "match/models/match_models.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "match/models/graph.h"
#include "match/models/interface.h"
#include "match/models/weights.h"

namespace assay::match {
namespace {

using ir::GraphId;
using Pairs = std::vector<std::pair<size_t, size_t>>;

OutputPairs by_position(size_t count_a, size_t count_b) {
  Pairs pairs;
  for (size_t i = 0; i < std::min(count_a, count_b); ++i) pairs.emplace_back(i, i);
  return pairs;
}

class ModelMatcher {
 public:
  ModelMatcher(const ir::Model& a, const ir::Model& b) : a_(a), b_(b) {
    matching_.nodes_in_b.resize(a.node_slots());
    matching_.nodes_in_a.resize(b.node_slots());
    matching_.values_in_b.resize(a.value_slots());
    matching_.values_in_a.resize(b.value_slots());
  }

  Matching run() {
    match_interfaces(a_, b_, matching_);
    const auto [seeds_a, seeds_b] = interface_seeds(a_, b_, matching_);
    const NodeHashes hashes_a = hash_nodes(a_, seeds_a);
    const NodeHashes hashes_b = hash_nodes(b_, seeds_b);
    matching_.graphs.emplace_back(a_.main_graph(), b_.main_graph());
    add_functions();
    for (size_t i = 0; i < matching_.graphs.size(); ++i) {
      const std::pair<GraphId, GraphId> graphs = matching_.graphs[i];
      if (i > 0) match_inputs(graphs);
      const GraphTask task = {graphs.first, graphs.second, i == 0 ? matching_.outputs : output_pairs(graphs)};
      match_graph({a_, hashes_a}, {b_, hashes_b}, task, matching_);
      add_bodies(graphs.first);
    }
    match_weights(a_, b_, matching_);
    return std::move(matching_);
  }

 private:
  Pairs output_pairs(std::pair<GraphId, GraphId> graphs) const {
    return by_position(a_.outputs(graphs.first).size(), b_.outputs(graphs.second).size());
  }

  void match_inputs(std::pair<GraphId, GraphId> graphs) {
    const std::vector<ir::ValueId>& inputs_a = a_[graphs.first].inputs;
    const std::vector<ir::ValueId>& inputs_b = b_[graphs.second].inputs;
    for (const auto& [i, j] : by_position(inputs_a.size(), inputs_b.size())) matching_.pair(inputs_a[i], inputs_b[j]);
  }

  void add_functions() {
    using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<Key, GraphId> in_b;
    for (const ir::Function& f : b_.functions()) {
      in_b.emplace(Key(b_.text(f.domain), b_.text(f.name), b_.text(f.overload)), f.body);
    }
    for (const ir::Function& f : a_.functions()) {
      const auto found = in_b.find(Key(a_.text(f.domain), a_.text(f.name), a_.text(f.overload)));
      if (found == in_b.end()) continue;
      matching_.graphs.emplace_back(f.body, found->second);
      in_b.erase(found);
    }
  }

  // Bodies correspond where nodes do and the attributes have the same name and as many bodies.
  void add_bodies(GraphId graph) {
    for (const ir::NodeId node : ir::nodes(a_, graph)) {
      const ir::NodeId other = matching_.nodes_in_b[node.index];
      if (!other) continue;
      for (const ir::Attribute& attribute : a_[node].attributes) add_bodies(attribute, b_[other]);
    }
  }

  void add_bodies(const ir::Attribute& attribute, const ir::Node& other) {
    const std::span<const GraphId> bodies_a = attribute.graphs();
    if (bodies_a.empty()) return;
    const ir::Attribute* const in_b = b_.find_attribute(other, a_.text(attribute.name()));
    const std::span<const GraphId> bodies_b = in_b ? in_b->graphs() : std::span<const GraphId>{};
    if (bodies_a.size() != bodies_b.size()) return;
    for (size_t i = 0; i < bodies_a.size(); ++i) matching_.graphs.emplace_back(bodies_a[i], bodies_b[i]);
  }

  const ir::Model& a_;
  const ir::Model& b_;
  Matching matching_;
};

}  // namespace

Matching match_models(const ir::Model& a, const ir::Model& b) { return ModelMatcher(a, b).run(); }

}  // namespace assay::match
