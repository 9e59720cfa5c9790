#include <algorithm>
#include <array>

#include "ir/queries.h"
#include "surgery/shard/rules.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

void follow_transpose(Region& region, NodeId node, uint32_t, const Split& split) {
  const std::vector<int64_t> order = region.facts().attributes(node).integers("perm");
  Split before = split;
  if (order.empty()) {
    const std::optional<int64_t> rank = region.facts().rank(region.facts().operand(node, 0));
    if (!rank) refuse(region, node, "reverses dims of which there are not known how many");
    before.dim = *rank + 1 - split.dim;
  } else {
    const int64_t rank = static_cast<int64_t>(order.size());
    if (split.dim > rank) refuse(region, node, "has another rank");
    before.dim = rank - order[static_cast<size_t>(rank - split.dim)];
  }
  if (before.dim < 1) refuse(region, node, "has another rank");
  region.need(node, 0, before);
}

// The number of last dims that are the same before and behind; only those behind the split one count.
int64_t kept_dims(const Region& region, NodeId node, const Split& split) {
  const ValueId value = region.facts().operand(node, 0);
  const ValueId result = region.facts().model()[node].results[0];
  int64_t kept = 0;
  while (kept + 1 < split.dim && region.facts().is_same_dim(value, result, kept + 1)) ++kept;
  return kept;
}

// The product of the result's dims behind the split one, and its own, without those that are kept.
int64_t period_of(const Region& region, NodeId node, const std::vector<std::optional<int64_t>>& target,
                  const Split& split) {
  const ValueId result = region.facts().model()[node].results[0];
  int64_t period = split.extent;
  for (int64_t dim = split.dim - 1; dim > kept_dims(region, node, split); --dim) {
    std::optional<int64_t> size = region.facts().dim(result, dim);
    const std::optional<int64_t> said = target[target.size() - static_cast<size_t>(dim)];
    if (!size && said && *said > 0) size = said;
    if (!size || *size <= 0 || __builtin_mul_overflow(period, *size, &period)) {
      refuse(region, node, "has unknown dims after the split one");
    }
  }
  return period;
}

// The dim of the operand whose equal parts are the same elements.
Split split_before(const Region& region, NodeId node, int64_t period, int64_t kept) {
  const ShapeFacts& facts = region.facts();
  const ValueId value = facts.operand(node, 0);
  int64_t behind = 1;
  for (int64_t dim = kept + 1; behind <= period; ++dim) {
    const std::optional<int64_t> size = dim == 1 ? facts.width(value) : facts.dim(value, dim);
    if (!size || *size <= 0 || *size > period / behind) break;
    if (*size * behind == period && *size % region.ranks() == 0) return {.dim = dim, .extent = *size};
    behind *= *size;
  }
  refuse(region, node, "puts parts of several ranks next to each other");
}

// Copied dims must be other ones than the split one, or stand at its own place.
void check_copies(const Region& region, NodeId node, const std::vector<std::optional<int64_t>>& target, size_t place,
                  const Split& before) {
  const std::optional<int64_t> rank = region.facts().rank(region.facts().operand(node, 0));
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] != 0) continue;
    const bool leads = i < place && std::all_of(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(place),
                                                [](const std::optional<int64_t>& item) { return item == 0; });
    if (!rank && leads) continue;
    if (!rank || ((static_cast<int64_t>(i) == *rank - before.dim) != (i == place))) {
      refuse(region, node, "copies the dim that would be split");
    }
  }
}

void follow_reshape(Region& region, NodeId node, uint32_t, const Split& split) {
  const auto target = region.facts().elements(region.facts().operand(node, 1));
  if (!target || static_cast<size_t>(split.dim) > target->size()) {
    refuse(region, node, "has a target that is not known");
  }
  if (region.facts().attributes(node).integer("allowzero", 0) != 0) refuse(region, node, "takes zeros as sizes");
  const size_t place = target->size() - static_cast<size_t>(split.dim);
  const Split before =
      split_before(region, node, period_of(region, node, *target, split), kept_dims(region, node, split));
  check_copies(region, node, *target, place, before);
  const std::optional<int64_t> said = (*target)[place];
  if (!said || (*said > 0 && *said != split.extent)) refuse(region, node, "has a target that is not known");
  if (split.groups != 1 && before.extent != split.extent)
    refuse(region, node, "cuts parts that are packed one after another");
  region.need(node, 0, {.dim = before.dim, .extent = before.extent, .groups = split.groups});
  if (*said > 0) region.divide_target(node, place);
}

// New dims of 1 move the split one.
void follow_unsqueeze(Region& region, NodeId node, uint32_t, const Split& split) {
  const ShapeFacts& facts = region.facts();
  std::vector<std::optional<int64_t>> axes;
  for (const int64_t axis : facts.attributes(node).integers("axes")) axes.emplace_back(axis);
  if (facts.operand(node, 1)) axes = facts.elements(facts.operand(node, 1)).value_or(axes);
  const std::optional<int64_t> rank = facts.rank(facts.model()[node].results[0]);
  Split before = split;
  for (const std::optional<int64_t>& axis : axes) {
    if (!axis || (*axis >= 0 && !rank)) refuse(region, node, "has axes that are not known");
    const int64_t from_end = *axis < 0 ? -*axis : *rank - *axis;
    if (from_end == split.dim) refuse(region, node, "makes the dim that would be split");
    if (from_end < split.dim) --before.dim;
  }
  if (axes.empty() || before.dim < 1) refuse(region, node, "has axes that are not known");
  region.need(node, 0, before);
}

// Repeats along other dims, as of K and V for the heads of Q that share them.
void follow_expand(Region& region, NodeId node, uint32_t, const Split& split) {
  const auto target = region.facts().elements(region.facts().operand(node, 1));
  const int64_t count = target ? static_cast<int64_t>(target->size()) : 0;
  if (!target) refuse(region, node, "has a target that is not known");
  if (split.dim <= count) {
    const size_t place = static_cast<size_t>(count - split.dim);
    const std::optional<int64_t> said = (*target)[place];
    if (!said || (*said != 1 && *said != split.extent)) refuse(region, node, "has a target that is not known");
    if (*said != 1) region.divide_target(node, place);
  }
  region.need_broadcast(node, 0, split);
}

// Attention that is spelled out puts new keys and values behind those of earlier runs, an input of the graph, and gives
// the whole as an output; both may be cast.
bool grows_cache(const Region& region, NodeId node, const Split& split) {
  constexpr int64_t kHeads = 3;
  const ir::Model& model = region.facts().model();
  const ir::Node& facts = model[node];
  const ValueId past = region.facts().before_cast(region.facts().operand(node, 0));
  if (split.dim != kHeads || facts.operands.size() != 2 || !past || model[past].kind != ir::ValueKind::input)
    return false;
  return ir::is_output(model, facts.results[0]) || !region.facts().casts_to_outputs(facts.results[0]).empty();
}

void follow_concat(Region& region, NodeId node, uint32_t, const Split& split) {
  if (region.facts().axis_from_end(node, region.facts().attributes(node).integer("axis")) == split.dim) {
    refuse(region, node, "works along the dim that would be split");
  }
  Split part = split;
  part.is_cache = grows_cache(region, node, split);
  if (part.is_cache) region.give_cache(region.facts().model()[node].results[0], part);
  const uint32_t count = static_cast<uint32_t>(region.facts().model()[node].operands.size());
  for (uint32_t i = 0; i < count; ++i) region.need(node, i, part);
}

void follow_slice(Region& region, NodeId node, uint32_t, const Split& split) {
  const auto axes = region.facts().elements(region.facts().operand(node, 3));
  if (!axes) refuse(region, node, "has axes that are not known");
  for (const std::optional<int64_t>& axis : *axes) {
    if (!axis || region.facts().axis_from_end(node, *axis) == split.dim) {
      refuse(region, node, "works along the dim that would be split");
    }
  }
  region.need(node, 0, split);
}

// Results that are split along the axis itself: the operand holds them behind each other.
void follow_split_of_groups(Region& region, NodeId node, const Split& split) {
  const ShapeFacts& facts = region.facts();
  int64_t count = 0;
  for (const ValueId result : facts.model()[node].results) {
    if (!result || facts.dim(result, split.dim) != split.extent) refuse(region, node, "returns parts of several sizes");
    region.also_split(result, split);
    ++count;
  }
  if (facts.model().find_attribute(facts.model()[node], "split")) refuse(region, node, "has sizes as an attribute");
  if (facts.operand(node, 1)) region.divide_sizes(node);
  region.need(node, 0, {.dim = split.dim, .extent = split.extent * count, .groups = count});
}

void follow_split(Region& region, NodeId node, uint32_t, const Split& split) {
  const ShapeFacts& facts = region.facts();
  if (facts.axis_from_end(node, facts.attributes(node).integer("axis", 0)) == split.dim) {
    return follow_split_of_groups(region, node, split);
  }
  for (const ValueId result : facts.model()[node].results) {
    if (result) region.also_split(result, split);
  }
  region.need(node, 0, split);
}

constexpr std::array<SplitRule, 7> kRules = {{{"Transpose", "", follow_transpose},
                                              {"Unsqueeze", "", follow_unsqueeze},
                                              {"Expand", "", follow_expand},
                                              {"Reshape", "", follow_reshape, true},
                                              {"Concat", "", follow_concat},
                                              {"Slice", "", follow_slice},
                                              {"Split", "", follow_split}}};

}  // namespace

std::span<const SplitRule> layout_rules() { return kRules; }

}  // namespace assay::surgery
