#include "engine/lowering/attention_groups.h"

#include <algorithm>

#include "engine/layers/appended_cache.h"
#include "engine/layers/quantized_attention.h"
#include "engine/layers/spelled_attention.h"
#include "engine/lowering/quantized_groups.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

bool is_product(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  return traits.product == ops::ProductKind::matrices && !traits.has_bias;
}

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
  if (!is_product(model, product)) return {};
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

namespace {

// With what dequantises the operands of products.
std::vector<ir::NodeId> with_dequantizers(const ir::Model& model, const ops::Inference& inference,
                                          const std::vector<ir::NodeId>& chain) {
  std::vector<ir::NodeId> products;
  for (const ir::NodeId node : chain) {
    if (is_product(model, node)) products.push_back(node);
  }
  std::vector<ir::NodeId> group = chain;
  for (const ir::NodeId node : dequantizers_of(model, inference, products)) {
    if (std::ranges::find(chain, node) == chain.end()) group.push_back(node);
  }
  std::ranges::sort(group, {}, [&](ir::NodeId node) { return model[node].order; });
  return group;
}

}  // namespace

std::vector<ir::NodeId> quantized_attention_group(const ir::Model& model, const ops::Inference& inference,
                                                  ir::NodeId product, const ConstantOf& constant) {
  if (!is_product(model, product) || with_dequantizers(model, inference, {product}).size() != 3) return {};
  std::vector<ir::NodeId> chain = {product};
  std::vector<ir::NodeId> group;
  while (chain.size() < kMostQuantizedAttentionNodes && extend(model, chain)) {
    const std::vector<ir::NodeId> found = with_dequantizers(model, inference, chain);
    if (match_quantized_attention(model, inference, found, constant)) group = found;
  }
  return group;
}

std::vector<std::vector<ir::NodeId>> cache_groups(const ir::Model& model, const ops::Inference& inference,
                                                  const std::vector<ir::NodeId>& group, const ConstantOf& constant) {
  std::vector<std::vector<ir::NodeId>> groups;
  std::vector<ir::NodeId> all = group;
  const std::optional<SpelledAttention> attention = match_attention(model, inference, group, constant);
  if (!attention) return groups;
  for (const AttentionOperand* const operand : {&attention->k, &attention->v}) {
    const std::optional<AppendedCache> found = find_appended(model, inference, all, *operand);
    if (!found) continue;
    groups.push_back(found->nodes);
    all.insert(all.begin(), found->nodes.begin(), found->nodes.end());
  }
  return groups;
}

}  // namespace assay::engine
