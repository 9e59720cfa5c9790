#include "engine/lowering/attention_groups.h"

#include "engine/spelled_attention.h"

namespace assay::engine {
namespace {

// The only use of a value, by a node of the main graph.
ir::NodeId only_user(const ir::Model& model, ir::ValueId value) {
  ir::NodeId user;
  for (const ir::Use& use : ir::uses(model, value)) {
    const ir::Node& node = model[use.user];
    if (user.valid() || node.is_outputs || node.graph != model.main_graph()) return {};
    user = use.user;
  }
  return user;
}

}  // namespace

std::vector<ir::NodeId> attention_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                        const ConstantOf& constant) {
  if (model.text(model[product].op) != "MatMul") return {};
  std::vector<ir::NodeId> chain = {product};
  std::vector<ir::NodeId> group;
  while (chain.size() < kMostAttentionNodes) {
    const ir::NodeId next = only_user(model, model[chain.back()].results.front());
    if (!next.valid()) break;
    chain.push_back(next);
    if (match_attention(model, inference, chain, constant)) group = chain;
  }
  return group;
}

}  // namespace assay::engine
