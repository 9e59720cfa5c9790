#include "engine/lowering/join_norms.h"

#include <algorithm>
#include <map>

#include "engine/layers/fused_product.h"
#include "engine/layers/spelled_norm.h"
#include "ir/queries.h"

namespace assay::engine {
namespace {

using Group = std::vector<ir::NodeId>;

class NormJoiner {
 public:
  NormJoiner(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
             const ConstantOf& constant, std::vector<Group>& groups)
      : model_(model), inference_(inference), rules_(rules), constant_(constant), groups_(groups) {
    for (Group& group : groups) {
      if (!group.empty()) makers_[group.back()] = &group;
    }
  }

  void run() {
    for (Group& group : groups_) {
      const auto product = std::ranges::find_if(group, [&](ir::NodeId node) { return is_row_product(model_, node); });
      if (product == group.end() || !has_fused_rows(model_, inference_, rules_, *product)) continue;
      if (!multiplies_constants(group, *product)) continue;
      Group norm = norm_before(*product);
      if (norm.empty() || norm.size() + group.size() > rules_.most_nodes) continue;
      if (const auto made = makers_.find(norm.back()); made != makers_.end()) made->second->clear();
      group.insert(group.begin(), norm.begin(), norm.end());
    }
  }

 private:
  // True if nodes before the product are made of constants, and its second operand is one or what they give.
  bool multiplies_constants(const Group& group, ir::NodeId product) const {
    for (const ir::NodeId node : group) {
      for (const ir::Use& use : model_[node].operands) {
        if (!use.value.valid() || (node == product && use.index != 1)) continue;
        const bool is_made = std::ranges::find(group, model_[use.value].producer) != group.end();
        if (!is_made && constant_(use.value) == nullptr) return false;
      }
      if (node == product) return true;
    }
    return false;
  }

  // The nodes of a normalisation that only this product reads.
  Group norm_before(ir::NodeId product) const {
    const ir::ValueId data = ir::operand(model_, product, 0);
    const ir::NodeId last = ir::producer(model_, data);
    if (!last.valid() || only_user(model_, data) != product) return {};
    const auto made = makers_.find(last);
    const Group group = made == makers_.end() ? Group{last} : *made->second;
    const std::optional<SpelledNorm> norm =
        made == makers_.end() ? norm_of_operator(last) : match_norm(model_, group, constant_);
    const auto is_known = [&](ir::ValueId factors) { return !factors.valid() || constant_(factors) != nullptr; };
    const bool fits = norm && is_known(norm->scale) && is_known(norm->shift) && has_same_type(norm->data, data);
    return fits ? group : Group{};
  }
  std::optional<SpelledNorm> norm_of_operator(ir::NodeId node) const {
    if (!is_norm_of_rows(model_, inference_, node)) return std::nullopt;
    const auto operand = [&](uint32_t index) { return ir::operand(model_, node, index); };
    return SpelledNorm{.data = operand(0), .scale = operand(1), .shift = operand(2)};
  }
  bool has_same_type(ir::ValueId a, ir::ValueId b) const {
    const std::optional<TensorDesc> left = find_desc(model_, inference_, a), right = find_desc(model_, inference_, b);
    return left && right && left->dtype == right->dtype;
  }

  const ir::Model& model_;
  const ops::Inference& inference_;
  const LoweringRules& rules_;
  const ConstantOf& constant_;
  std::vector<Group>& groups_;
  std::map<ir::NodeId, Group*> makers_;  // groups by their last node
};

}  // namespace

bool has_fused_rows(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                    ir::NodeId product) {
  const std::optional<TensorDesc> data = find_desc(model, inference, ir::operand(model, product, 0));
  const bool is_half = data && data->dtype != tensor::DType::float32 && is_short_float(data->dtype);
  if (!is_half || !rules.has(data->dtype) || data->dims.empty() || data->count() == 0) return false;
  return data->count() / data->dims.back() <= rules.most_fused_rows;
}

void join_norms(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                const ConstantOf& constant, std::vector<std::vector<ir::NodeId>>& groups) {
  if (rules.most_fused_rows > 0) NormJoiner(model, inference, rules, constant, groups).run();
}

std::vector<ir::NodeId> with_halves(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                                    std::vector<ir::NodeId> product) {
  if (!is_row_product(model, product.back()) || !has_fused_rows(model, inference, rules, product.back()))
    return product;
  if (const ir::NodeId split = halving_node(model, inference, product.back()); split.valid()) product.push_back(split);
  return product;
}

}  // namespace assay::engine
