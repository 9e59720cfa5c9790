#include "engine/lowering/append_reductions.h"

#include <algorithm>

#include "engine/layers/elementwise.h"
#include "engine/layers/reduction.h"
#include "engine/lowering/quantized_groups.h"

namespace assay::engine {
namespace {

// True if the dims that are reduced are neighbours, so that a kernel computes it in the order of the dims at least.
bool has_neighbours(const tensor::Shape& dims, const std::set<size_t>& axes) {
  bool begins = false;
  bool ends = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!axes.contains(i)) {
      ends = begins;
      continue;
    }
    if (ends) return false;
    begins = true;
  }
  return true;
}

bool can_follow(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, const LoweringRules& rules,
                const ConstantOf& constant) {
  if (model[node].graph != model.main_graph() || model[node].results.size() != 1) return false;
  const std::optional<Reduction> reduction = find_reduction(model, inference, node, constant);
  if (!reduction) return false;
  const std::optional<TensorDesc> data = find_desc(model, inference, model[node].operands[0].value);
  const std::optional<TensorDesc> out = find_desc(model, inference, model[node].results[0]);
  const bool is_known = data && out && data->dtype == out->dtype && data->count() > 0 && rules.has(data->dtype);
  return is_known && has_neighbours(data->dims, reduction->axes);
}

}  // namespace

void append_reductions(const ir::Model& model, const ops::Inference& inference,
                       std::vector<std::vector<ir::NodeId>>& groups, const LoweringRules& rules,
                       const ConstantOf& constant) {
  std::set<ir::NodeId> taken;
  for (const std::vector<ir::NodeId>& group : groups) taken.insert(group.begin(), group.end());
  for (std::vector<ir::NodeId>& group : groups) {
    const bool is_chain = !group.empty() && std::ranges::all_of(group, [&](ir::NodeId node) {
      return is_elementwise(inference, model, node);
    });
    const ir::NodeId user = is_chain ? only_user(model, model[group.back()].results.front()) : ir::NodeId();
    if (user.valid() && !taken.contains(user) && can_follow(model, inference, user, rules, constant))
      group.push_back(user);
  }
}

}  // namespace assay::engine
