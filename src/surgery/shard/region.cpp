#include "surgery/shard/region.h"

#include "base/error.h"
#include "base/text.h"
#include "ir/verify.h"
#include "ir/written.h"
#include "surgery/shard/rules.h"

namespace assay::surgery {

using ir::NodeId;
using ir::ValueId;

void Region::find(const std::set<NodeId>& other_roots) {
  need_rows(*this, root_);
  while (!pending_.empty()) {
    const ValueId value = pending_.back();
    pending_.pop_back();
    follow(value, splits_.at(value), other_roots);
  }
  check_readers();
  if (columns_.empty()) fail(ErrorCode::unsupported, "no product with constant weights comes before it");
  if (!is_nonlinear_) fail(ErrorCode::unsupported, "only linear operators are between it and another");
}

void Region::need(NodeId user, uint32_t index, const Split& split) {
  const ValueId value = facts_.operand(user, index);
  if (!value) fail(ErrorCode::unsupported, "{} has no operand {}", ir::describe(facts_.model(), user), index);
  if (split.extent <= 0 || split.extent % split.groups != 0 || split.extent / split.groups % ranks_ != 0) {
    fail(ErrorCode::unsupported, "{} ranks cannot share {} elements of `{}` evenly", ranks_,
         split.extent / split.groups, name_of(value));
  }
  wanted_.emplace(user, index);
  if (const tensor::Tensor* const tensor = facts_.constant(value)) {
    return slice({user, index, value, split}, *tensor);
  }
  const std::optional<int64_t> size = facts_.dim(value, split.dim);
  const std::optional<int64_t> rank = facts_.rank(value);
  if ((size && *size != split.extent) || (rank && *rank < split.dim)) {
    fail(ErrorCode::unsupported, "the shape of `{}` does not fit the split", name_of(value));
  }
  const auto [found, is_new] = splits_.try_emplace(value, split);
  if (is_new) return pending_.push_back(value);
  if (!found->second.is_same(split)) {
    fail(ErrorCode::unsupported, "`{}` would be split in two ways", name_of(value));
  }
}

void Region::need_broadcast(NodeId user, uint32_t index, const Split& split) {
  const ValueId value = facts_.operand(user, index);
  const std::optional<int64_t> rank = facts_.rank(value);
  const bool is_whole = (rank && *rank < split.dim) || facts_.dim(value, split.dim) == 1;
  if (!is_whole) need(user, index, split);
}

void Region::need_joined(NodeId user, uint32_t index, const Split& split) {
  const ValueId value = facts_.operand(user, index);
  wanted_.emplace(user, index);
  nodes_.insert(facts_.model()[value].producer);
  splits_.try_emplace(value, split);
}

void Region::give_cache(ValueId value, Split split) {
  split.is_cache = true;
  splits_.insert_or_assign(value, split);
  for (const ir::Use& cast : facts_.casts_to_outputs(value)) {
    nodes_.insert(cast.user);
    wanted_.emplace(cast.user, cast.index);
    splits_.try_emplace(facts_.model()[cast.user].results[0], split);
  }
}

void Region::divide(NodeId node, std::string_view attribute) {
  if (!ir::written_integer(facts_.model(), facts_.model()[node], attribute)) {
    fail(ErrorCode::unsupported, "{} has no number `{}`", ir::describe(facts_.model(), node), attribute);
  }
  divided_.emplace_back(node, attribute);
}

void Region::slice(const SlicedOperand& operand, const tensor::Tensor& tensor) {
  const tensor::Shape& shape = tensor.shape();
  const size_t dim = static_cast<size_t>(operand.split.dim);
  const bool fits = dim <= shape.size() && shape[shape.size() - dim] == operand.split.extent;
  if (!fits) fail(ErrorCode::unsupported, "the shape of `{}` does not fit the split", name_of(operand.value));
  slices_.push_back(operand);
}

void Region::follow(ValueId value, const Split& split, const std::set<NodeId>& other_roots) {
  constexpr size_t kMostNodes = 1000;
  const ir::Model& model = facts_.model();
  const NodeId producer = model[value].producer;
  if (!producer) {
    const bool is_given = model[value].kind == ir::ValueKind::input && !model[value].constant;
    if (is_given && split.is_cache) return;
    fail(ErrorCode::unsupported, "`{}` {}", name_of(value),
         is_given ? "is an input of the graph" : "has no elements that can be split");
  }
  if (other_roots.contains(producer)) {
    fail(ErrorCode::unsupported, "{} already computes a sum over ranks", ir::describe(model, producer));
  }
  const SplitRule* const rule = find_rule(facts_, producer);
  if (!rule) fail(ErrorCode::unsupported, "{} needs all of its operands", ir::describe(model, producer));
  if (split.groups != 1 && !rule->keeps_groups) {
    fail(ErrorCode::unsupported, "{} cannot be split where several parts are packed one after another",
         ir::describe(model, producer));
  }
  nodes_.insert(producer);
  if (nodes_.size() > kMostNodes) fail(ErrorCode::unsupported, "more than {} nodes come before it", kMostNodes);
  rule->follow(*this, producer, model[value].index, split);
}

// Checks that a split value is not seen by anything that expects the whole.
void Region::check_readers() const {
  for (const NodeId node : nodes_) {
    for (const ValueId result : facts_.model()[node].results) {
      if (!result) continue;
      if (!splits_.contains(result) && facts_.model()[result].first_use) {
        fail(ErrorCode::unsupported, "`{}` has no part that a rank could compute", name_of(result));
      }
    }
  }
  for (const auto& [value, split] : splits_) check_readers(value);
}

void Region::check_readers(ValueId value) const {
  for (const ir::Use& use : ir::uses(facts_.model(), value)) {
    if (wanted_.contains({use.user, use.index})) continue;
    const ir::Node& reader = facts_.model()[use.user];
    if (!reader.is_outputs) {
      fail(ErrorCode::unsupported, "{} needs all of `{}`", ir::describe(facts_.model(), use.user), name_of(value));
    }
    if (splits_.at(value).is_cache && reader.graph == facts_.model().main_graph()) continue;
    fail(ErrorCode::unsupported, "`{}` is an output of a graph", name_of(value));
  }
}

std::string Region::name_of(ValueId value) const { return printable(facts_.model().text(facts_.model()[value].name)); }

}  // namespace assay::surgery
