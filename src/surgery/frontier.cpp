#include "surgery/frontier.h"

#include <algorithm>

#include "ir/walk.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

class Finder {
 public:
  explicit Finder(const ir::Model& model) : model_(model), stops_(model.value_slots()) {}

  Frontier find(const std::vector<ValueId>& given, const std::vector<ValueId>& missing) {
    const std::vector<bool> behind = nodes_behind(given);
    const std::vector<bool> needing = nodes_behind(missing);
    std::vector<bool> is_missing(model_.value_slots());
    for (const ValueId value : missing) is_missing[value.index] = true;
    Frontier found;
    for (const ValueId value : ir::live_values(model_)) {
      const NodeId producer = model_[value].producer;
      if (producer && behind[producer.index]) continue;
      const bool is_open = producer ? needing[producer.index] : is_missing[value.index];
      if (is_open) sort_in(value, behind, found);
    }
    drop_what_follows(missing, found.values);
    return found;
  }

 private:
  // The nodes of the main graph that need one of the values, however far behind; none behind those that stop it.
  std::vector<bool> nodes_behind(std::vector<ValueId> pending) const {
    std::vector<bool> found(model_.node_slots());
    while (!pending.empty()) {
      const ValueId value = pending.back();
      pending.pop_back();
      if (stops_[value.index]) continue;
      for (const ir::Use& use : ir::uses(model_, value)) {
        const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
        if (!user || found[user.index]) continue;
        found[user.index] = true;
        for (const ValueId result : model_[user].results) {
          if (result) pending.push_back(result);
        }
      }
    }
    return found;
  }

  void sort_in(ValueId value, const std::vector<bool>& behind, Frontier& found) const {
    bool is_needed = false;
    for (const ir::Use& use : ir::uses(model_, value)) {
      const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
      if (!user) continue;
      if (model_[user].is_outputs) {
        found.outputs.push_back(value);
      } else {
        is_needed = is_needed || behind[user.index];
      }
    }
    if (is_needed) found.values.push_back(value);
  }

  // Takes away what the others give: a value that reaches nothing missing but through them.
  void drop_what_follows(const std::vector<ValueId>& missing, std::vector<ValueId>& values) {
    constexpr size_t kMost = 64;
    if (values.size() < 2 || values.size() > kMost) return;
    for (const ValueId value : values) stops_[value.index] = true;
    std::erase_if(values, [&](ValueId value) {
      const NodeId producer = model_[value].producer;
      const bool follows = producer && !nodes_behind(missing)[producer.index];
      if (follows) stops_[value.index] = false;
      return follows;
    });
  }

  const ir::Model& model_;
  std::vector<bool> stops_;  // by value
};

}  // namespace

Frontier find_frontier(const ir::Model& model, const std::vector<ValueId>& given, const std::vector<ValueId>& missing) {
  return Finder(model).find(given, missing);
}

}  // namespace assay::surgery
