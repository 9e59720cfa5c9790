#include "match/models/weights.h"

#include <algorithm>
#include <map>

#include "match/models/words.h"

namespace assay::match {
namespace {

using ir::NodeId;
using ir::ValueId;

class WeightMatcher {
 public:
  WeightMatcher(const ir::Model& a, const ir::Model& b, Matching& matching) : a_(a), b_(b), matching_(matching) {}

  void run() {
    collect_places();
    for (const auto& [a, b] : places_) {
      if (name(a_, a) == name(b_, b)) try_pair(a, b);
    }
    for (const auto& [a, b] : places_) {
      if (are_open(a, b) && content(a_, a) == content(b_, b)) try_pair(a, b);
    }
    for (const auto& [a, b] : places_) try_pair(a, b);
    pair_unused();
  }

 private:
  static std::string_view name(const ir::Model& model, ValueId value) { return model.text(model[value].name); }
  static uint64_t content(const ir::Model& model, ValueId value) { return hash_tensor(model[model[value].constant]); }
  static const tensor::Shape& shape(const ir::Model& model, ValueId value) {
    const ir::TensorEntry& entry = model[model[value].constant];
    return entry.sparse ? entry.sparse->dims : entry.tensor.shape();
  }
  bool are_open(ValueId a, ValueId b) const {
    return !matching_.values_in_b[a.index] && !matching_.values_in_a[b.index];
  }
  void try_pair(ValueId a, ValueId b) {
    if (are_open(a, b)) matching_.pair(a, b);
  }

  void collect_places() {
    for (const auto& [graph_a, graph_b] : matching_.graphs) {
      for (const NodeId node : ir::nodes(a_, graph_a)) {
        const NodeId other = matching_.nodes_in_b[node.index];
        if (other) collect(a_[node].operands, b_[other].operands);
      }
      collect(a_.outputs(graph_a), b_.outputs(graph_b));
    }
  }

  void collect(std::span<const ir::Use> operands_a, std::span<const ir::Use> operands_b) {
    for (size_t i = 0; i < std::min(operands_a.size(), operands_b.size()); ++i) {
      const ValueId a = operands_a[i].value;
      const ValueId b = operands_b[i].value;
      if (a && b && a_[a].constant && b_[b].constant) places_.emplace_back(a, b);
    }
  }

  void pair_unused() {
    for (const auto& [graph_a, graph_b] : matching_.graphs) {
      pair_rest(graph_a, graph_b, name);
      pair_rest(graph_a, graph_b, content);
    }
  }

  template <typename KeyOf>
  void pair_rest(ir::GraphId graph_a, ir::GraphId graph_b, KeyOf key_of) {
    std::multimap<decltype(key_of(b_, ValueId{})), ValueId> rest;
    for (const ValueId value : b_[graph_b].initializers) {
      if (!matching_.values_in_a[value.index]) rest.emplace(key_of(b_, value), value);
    }
    if (rest.empty()) return;
    for (const ValueId value : a_[graph_a].initializers) {
      if (matching_.values_in_b[value.index]) continue;
      const auto found = rest.find(key_of(a_, value));
      if (found == rest.end() || shape(a_, value) != shape(b_, found->second)) continue;
      matching_.pair(value, found->second);
      rest.erase(found);
    }
  }

  const ir::Model& a_;
  const ir::Model& b_;
  Matching& matching_;
  std::vector<std::pair<ValueId, ValueId>> places_;
};

}  // namespace

void match_weights(const ir::Model& a, const ir::Model& b, Matching& matching) { WeightMatcher(a, b, matching).run(); }

}  // namespace assay::match
