#include "engine/lowering/join_depthwise.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/layers/separable.h"

namespace assay::engine {
namespace {

using Group = std::vector<ir::NodeId>;

class DepthwiseJoiner {
 public:
  DepthwiseJoiner(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                  std::vector<Group>& groups)
      : model_(model), inference_(inference), rules_(rules), groups_(groups) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!groups[i].empty()) openers_[groups[i].front()] = i;
    }
  }

  void run() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      Group& group = groups_[i];
      if (group.empty() || joined_.contains(i) || !opens(group)) continue;
      const ir::NodeId reader = only_user(model_, model_[group.back()].results.front());
      const auto found = reader.valid() ? openers_.find(reader) : openers_.end();
      if (found == openers_.end() || !ends(reader)) continue;
      Group& into = groups_[found->second];
      if (group.size() + into.size() > rules_.most_nodes) continue;
      into.insert(into.begin(), group.begin(), group.end());
      group.clear();
      joined_.insert(found->second);
    }
  }

 private:
  // True for a convolution of a size that the device wants, and what computes element by element of it and constants.
  bool opens(const Group& group) const {
    const std::optional<Layer> layer = find_layer(model_, inference_, group.front());
    if (!layer || !rules_.has(layer->inputs.front().dtype) || !opens_separable(*layer)) return false;
    const int64_t results = layer->outputs.front().count();
    return results <= rules_.most_depthwise &&
           std::ranges::all_of(group, [&](ir::NodeId node) { return reads_constants(group, node); });
  }
  // True if a node reads nothing else that is computed but what the first node reads, or the group computes.
  bool reads_constants(const Group& group, ir::NodeId node) const {
    return node == group.front() || std::ranges::all_of(model_[node].operands, [&](const ir::Use& use) {
             return !use.value.valid() || constant_of(model_, inference_, use.value) != nullptr ||
                    std::ranges::find(group, model_[use.value].producer) != group.end();
           });
  }
  bool ends(ir::NodeId node) const {
    const std::optional<Layer> layer = find_layer(model_, inference_, node);
    return layer && ends_separable(*layer);
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  const LoweringRules& rules_;
  std::vector<Group>& groups_;
  std::map<ir::NodeId, size_t> openers_;  // groups by their first node
  std::set<size_t> joined_;
};

}  // namespace

void join_depthwise(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                    std::vector<std::vector<ir::NodeId>>& groups) {
  if (rules.most_depthwise > 0) DepthwiseJoiner(model, inference, rules, groups).run();
}

}  // namespace assay::engine
