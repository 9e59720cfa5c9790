#include "engine/lowering/join_chains.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/layers/elementwise.h"
#include "engine/layers/float8_pair.h"
#include "engine/layers/quantization.h"

namespace assay::engine {
namespace {

using Group = std::vector<ir::NodeId>;

class ChainJoiner {
 public:
  ChainJoiner(const ir::Model& model, const ops::Inference& inference, size_t most_values, std::vector<Group>& groups)
      : model_(model), inference_(inference), most_values_(most_values), groups_(groups) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!is_chain(groups[i])) continue;
      for (const ir::NodeId node : groups[i]) owners_[node] = i;
    }
  }

  void run() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].empty() || !owners_.contains(groups_[i].front())) continue;
      const ir::NodeId reader = only_reader(groups_[i].back());
      const auto owner = reader.valid() ? owners_.find(reader) : owners_.end();
      if (owner != owners_.end() && has_same_dims(groups_[i].back(), reader)) join(i, owner->second);
    }
  }

 private:
  bool is_chain(const Group& group) const {
    return std::ranges::all_of(group, [&](ir::NodeId node) {
      return is_elementwise(inference_, model_, node) && !is_quantizer(model_, inference_, node);
    });
  }

  // The node that uses a result, perhaps more than once; none if there are several, or it is an output.
  ir::NodeId only_reader(ir::NodeId node) const {
    ir::NodeId reader;
    for (const ir::Use& use : ir::uses(model_, model_[node].results.front())) {
      const ir::Node& user = model_[use.user];
      const bool is_other =
          user.is_outputs || user.graph != model_.main_graph() || (reader.valid() && reader != use.user);
      if (is_other) return {};
      reader = use.user;
    }
    return reader;
  }

  bool has_same_dims(ir::NodeId a, ir::NodeId b) const {
    const auto dims = [&](ir::NodeId node) { return *inference_.type(model_[node].results.front()).dims; };
    return std::ranges::equal(dims(a), dims(b), {}, &ops::Dim::number, &ops::Dim::number);
  }

  void join(size_t from, size_t into) {
    Group joined = groups_[into];
    joined.insert(joined.end(), groups_[from].begin(), groups_[from].end());
    std::ranges::sort(joined, {}, [&](ir::NodeId node) { return model_[node].order; });
    if (count_chain_values(model_, inference_, joined) > most_values_) return;
    for (const ir::NodeId node : groups_[from]) owners_[node] = into;
    groups_[into] = std::move(joined);
    groups_[from].clear();
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  size_t most_values_;
  std::vector<Group>& groups_;
  std::map<ir::NodeId, size_t> owners_;  // the chain that a node is part of
};

}  // namespace

size_t count_chain_values(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes) {
  std::set<ir::ValueId> values;
  for (const ir::NodeId node : nodes) {
    values.insert(model[node].results.front());
    const std::span<const ir::Use> operands(model[node].operands);
    // Scale and zero point, which are no operands then.
    const bool has_numbers = is_quantizer(model, inference, node) || is_of_float8_pair(model, inference, node);
    for (const ir::Use& use : operands.first(has_numbers ? 1 : operands.size())) {
      if (use.value.valid()) values.insert(use.value);
    }
  }
  return values.size();
}

void join_chains(const ir::Model& model, const ops::Inference& inference, size_t most_values,
                 std::vector<std::vector<ir::NodeId>>& groups) {
  ChainJoiner(model, inference, most_values, groups).run();
}

}  // namespace assay::engine
