#include "engine/lowering/attention_groups.h"

#include <algorithm>

#include "engine/spelled_attention.h"

namespace assay::engine {
namespace {

// Adds the nodes of the main graph that use the last result: one, or for weights IsNaN and then Where. False: others
// do.
bool extend(const ir::Model& model, std::vector<ir::NodeId>& chain) {
  std::vector<ir::NodeId> users;
  for (const ir::Use& use : ir::uses(model, model[chain.back()].results.front())) {
    const ir::Node& node = model[use.user];
    if (node.is_outputs || node.graph != model.main_graph()) return false;
    if (users.empty() || users.back() != use.user) users.push_back(use.user);
  }
  std::ranges::sort(users, {}, [&](ir::NodeId user) { return model[user].order; });
  if (users.size() == 2 && model.text(model[users[0]].op) == "IsNaN") {
    const ir::Use* const use = model[model[users[0]].results.front()].first_use;
    if (use == nullptr || use->next != nullptr || use->user != users[1]) return false;
  } else if (users.size() != 1) {
    return false;
  }
  chain.insert(chain.end(), users.begin(), users.end());
  return true;
}

}  // namespace

std::vector<ir::NodeId> attention_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                        const ConstantOf& constant) {
  if (model.text(model[product].op) != "MatMul") return {};
  std::vector<ir::NodeId> chain = {product};
  std::vector<ir::NodeId> group;
  while (chain.size() < kMostAttentionNodes && extend(model, chain)) {
    const std::optional<SpelledAttention> found = match_attention(model, inference, chain, constant);
    if (!found) continue;
    group = found->before;
    group.insert(group.end(), chain.begin(), chain.end());
  }
  return group;
}

}  // namespace assay::engine
