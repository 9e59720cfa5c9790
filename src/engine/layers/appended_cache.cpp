#include "engine/layers/appended_cache.h"

#include <algorithm>

#include "ir/queries.h"

namespace assay::engine {
namespace {

using tensor::DType;

class Finder {
 public:
  Finder(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> attention)
      : model_(model), inference_(inference), attention_(attention) {}

  std::optional<AppendedCache> find(ir::ValueId all) {
    const ir::NodeId concat = model_[all].producer;
    found_.past = ir::operand(model_, concat, 0);
    found_.fresh = ir::operand(model_, concat, 1);
    const ir::NodeId before = model_[found_.past].producer;
    if (has_one_use(found_.past) && is_cast(before, DType::float32, DType::bfloat16)) {
      found_.nodes.push_back(before);
      found_.past = ir::operand(model_, before, 0);
    }
    found_.nodes.push_back(concat);
    return sort_users(all) ? std::optional(found_) : std::nullopt;
  }

 private:
  // One is the attention, others come after it; a Cast that is the only other one becomes part of the cache.
  bool sort_users(ir::ValueId all) {
    size_t inside = 0;
    size_t outside = 0;
    ir::NodeId cast;
    for (const ir::Use& use : ir::uses(model_, all)) {
      const bool is_back_to_floats = is_cast(use.user, DType::bfloat16, DType::float32);
      if (is_back_to_floats) cast = use.user;
      const bool is_inside = !is_back_to_floats && std::ranges::find(attention_, use.user) != attention_.end();
      ++(is_inside ? inside : outside);
    }
    found_.given = outside > 0 ? all : ir::ValueId();
    if (outside == 1 && cast.valid()) {
      found_.nodes.push_back(cast);
      found_.given = ir::result(model_, cast);
    }
    return inside == 1 && (!found_.given.valid() || waits(found_.given));
  }

  // True if all users of a value outside the attention come after it.
  bool waits(ir::ValueId value) const {
    const ir::Node& last = model_[attention_.back()];
    for (const ir::Use& use : ir::uses(model_, value)) {
      const ir::Node& user = model_[use.user];
      const bool is_inside = std::ranges::find(attention_, use.user) != attention_.end();
      if (user.graph != last.graph || (!is_inside && !user.is_outputs && user.order < last.order)) return false;
    }
    return true;
  }

  bool has_one_use(ir::ValueId value) const {
    const ir::Use* const use = model_[value].first_use;
    return use != nullptr && use->next == nullptr;
  }
  bool is_cast(ir::NodeId node, DType from, DType to) const {
    if (!node.valid() || model_.text(model_[node].op) != "Cast" || !model_.text(model_[node].domain).empty()) {
      return false;
    }
    return model_[node].graph == model_[attention_.back()].graph && dtype(ir::operand(model_, node, 0)) == from &&
           dtype(ir::result(model_, node)) == to;
  }
  DType dtype(ir::ValueId value) const { return find_desc(model_, inference_, value).value_or(TensorDesc()).dtype; }

  const ir::Model& model_;
  const ops::Inference& inference_;
  std::span<const ir::NodeId> attention_;
  AppendedCache found_;
};

}  // namespace

bool is_appended(const ir::Model& model, const ops::Inference& inference, const AttentionOperand& operand) {
  const ir::NodeId concat = ir::producer(model, operand.value);
  if (!concat.valid() || model.text(model[concat].op) != "Concat" || !model.text(model[concat].domain).empty()) {
    return false;
  }
  if (inference.callees()[concat].op == nullptr || model[concat].operands.size() != 2) return false;
  for (const ir::Use& use : model[concat].operands) {
    if (!use.value.valid() || !find_desc(model, inference, use.value)) return false;
  }
  const std::optional<TensorDesc> all = find_desc(model, inference, operand.value);
  if (!all || all->dims.size() < 2 || (all->dtype != DType::float32 && !has_rows_of_keys(operand))) return false;
  const ops::Node facts = node_facts(model, inference, concat);
  const auto rank = static_cast<int64_t>(all->dims.size());
  return ops::normalize_axis(facts.integer("axis", 1), rank) == rank - (has_rows_of_keys(operand) ? 2 : 1);
}

std::optional<AppendedCache> find_appended(const ir::Model& model, const ops::Inference& inference,
                                           std::span<const ir::NodeId> attention, const AttentionOperand& operand) {
  if (!is_appended(model, inference, operand)) return std::nullopt;
  return Finder(model, inference, attention).find(operand.value);
}

}  // namespace assay::engine
