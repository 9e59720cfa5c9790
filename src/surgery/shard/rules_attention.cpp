#include <array>

#include "base/error.h"
#include "ir/verify.h"
#include "surgery/shard/rules.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr int64_t kHeads = 3;  // the dim of heads in caches, masks and operands of four dims

struct Heads {
  int64_t q = 0;
  int64_t kv = 0;
};

void check_heads(const Region& region, NodeId node, const Heads& heads) {
  if (heads.q <= 0 || heads.kv <= 0) refuse(region, node, "has no heads");
  if (heads.q % region.ranks() == 0 && heads.kv % region.ranks() == 0) return;
  fail(ErrorCode::usage, "{} has {} heads of Q and {} of K and V, which {} ranks cannot share evenly",
       ir::describe(region.facts().model(), node), heads.q, heads.kv, region.ranks());
}

Heads divide_heads(Region& region, NodeId node, std::string_view q, std::string_view kv) {
  const ops::Node attributes = region.facts().attributes(node);
  Heads heads;
  heads.q = attributes.integer(q, 0);
  heads.kv = attributes.integer(kv, heads.q);
  check_heads(region, node, heads);
  region.divide(node, q);
  if (kv != q && attributes.has_attribute(kv)) region.divide(node, kv);
  return heads;
}

// Q, K and V with the heads in their last dim; K has heads as wide as Q. Gives the width of the result.
int64_t need_flat(Region& region, NodeId node, const Heads& heads) {
  std::array<int64_t, 3> head_widths{};
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t count = i == 0 ? heads.q : heads.kv;
    const std::optional<int64_t> width = region.facts().width(region.facts().operand(node, i));
    if (!width || *width <= 0) refuse(region, node, "reads values of unknown width");
    if (*width % count != 0) refuse(region, node, "has heads that do not fit its operands");
    head_widths[i] = *width / count;
    region.need(node, i, {.dim = 1, .extent = *width});
  }
  if (head_widths[0] != head_widths[1]) refuse(region, node, "has heads of Q and K that are not as wide");
  return heads.q * head_widths[2];
}

void need_result(const Region& region, NodeId node, const Split& split, int64_t width) {
  if (split.extent != width) refuse(region, node, "has heads that do not fit its result");
}

void need_past(Region& region, NodeId node, uint32_t index, const Heads& heads) {
  if (!region.facts().operand(node, index)) return;
  region.need(node, index, {.dim = kHeads, .extent = heads.kv, .is_cache = true});
}

void give_present(Region& region, NodeId node, uint32_t index, const Heads& heads) {
  const ir::Node& facts = region.facts().model()[node];
  if (index >= facts.results.size() || !facts.results[index]) return;
  region.give_cache(facts.results[index], {.dim = kHeads, .extent = heads.kv});
}

bool has_results_behind(const Region& region, NodeId node, size_t index) {
  return region.facts().model()[node].results.size() > index;
}

void begin(Region& region, NodeId node, uint32_t result) {
  region.note_attention(node);
  region.note_nonlinear();
  if (result != 0) refuse(region, node, "passes its cache to the graph itself");
}

// Heads in the last dim, with their number as attributes, or in a dim of their own.
void follow_attention(Region& region, NodeId node, uint32_t result, const Split& split) {
  begin(region, node, result);
  const ShapeFacts& facts = region.facts();
  const bool has_numbers = facts.attributes(node).has_attribute("q_num_heads");
  const int64_t rank = facts.rank(facts.operand(node, 0)).value_or(has_numbers ? 3 : 4);
  if (has_results_behind(region, node, 3)) refuse(region, node, "also returns its scores");
  if (split.dim != (rank == 3 ? 1 : kHeads)) refuse(region, node, "can be split by heads only");
  Heads heads;
  if (has_numbers) {
    heads = divide_heads(region, node, "q_num_heads", "kv_num_heads");
  } else {
    heads = {facts.dim(facts.operand(node, 0), kHeads).value_or(0),
             facts.dim(facts.operand(node, 1), kHeads).value_or(0)};
    check_heads(region, node, heads);
  }
  if (rank == 3) {
    need_result(region, node, split, need_flat(region, node, heads));
  } else {
    need_result(region, node, split, heads.q);
    region.need(node, 0, {.dim = kHeads, .extent = heads.q});
    for (const uint32_t index : {1U, 2U}) region.need(node, index, {.dim = kHeads, .extent = heads.kv});
  }
  if (facts.operand(node, 3)) region.need_broadcast(node, 3, {.dim = kHeads, .extent = heads.q});
  for (const uint32_t index : {4U, 5U}) need_past(region, node, index, heads);
  for (const uint32_t index : {1U, 2U}) give_present(region, node, index, heads);
}

void follow_group_query(Region& region, NodeId node, uint32_t result, const Split& split) {
  begin(region, node, result);
  const ShapeFacts& facts = region.facts();
  if (!facts.operand(node, 1) || !facts.operand(node, 2)) refuse(region, node, "reads Q, K and V as one value");
  if (has_results_behind(region, node, 3) || facts.model()[node].operands.size() > 12) {
    refuse(region, node, "has operands or results that cannot be split");
  }
  if (split.dim != 1) refuse(region, node, "can be split by heads only");
  const Heads heads = divide_heads(region, node, "num_heads", "kv_num_heads");
  need_result(region, node, split, need_flat(region, node, heads));
  for (const uint32_t index : {3U, 4U}) need_past(region, node, index, heads);
  for (const uint32_t index : {1U, 2U}) give_present(region, node, index, heads);
  if (facts.operand(node, 10)) region.need_broadcast(node, 10, {.dim = kHeads, .extent = heads.q});
  if (facts.operand(node, 11)) region.need_broadcast(node, 11, {.dim = 1, .extent = heads.q});
}

void follow_multi_head(Region& region, NodeId node, uint32_t result, const Split& split) {
  begin(region, node, result);
  const ShapeFacts& facts = region.facts();
  if (!facts.operand(node, 1) || !facts.operand(node, 2)) refuse(region, node, "reads Q, K and V as one value");
  if (facts.operand(node, 3)) refuse(region, node, "has one bias for Q, K and V");
  if (has_results_behind(region, node, 3)) refuse(region, node, "also returns its scores");
  if (split.dim != 1 || facts.rank(facts.operand(node, 1)) == 4) refuse(region, node, "can be split by heads only");
  const Heads heads = divide_heads(region, node, "num_heads", "num_heads");
  need_result(region, node, split, need_flat(region, node, heads));
  if (facts.operand(node, 5)) region.need_broadcast(node, 5, {.dim = kHeads, .extent = heads.q});
  for (const uint32_t index : {6U, 7U}) need_past(region, node, index, heads);
  for (const uint32_t index : {1U, 2U}) give_present(region, node, index, heads);
}

// Each rank stacks its parts.
int64_t need_stacked(Region& region, NodeId node, NodeId concat, const Heads& heads) {
  const ShapeFacts& facts = region.facts();
  const int64_t width = need_flat(region, concat, heads);
  int64_t all = 0;
  for (uint32_t i = 0; i < 3; ++i) all += facts.width(facts.operand(concat, i)).value_or(0);
  region.need_joined(node, 0, {.dim = 1, .extent = all});
  return width;
}

// Q, K, V and a cache of both, the first three stacked or not; what follows is the same for all heads.
void follow_plugin(Region& region, NodeId node, uint32_t result, const Split& split) {
  begin(region, node, result);
  if (split.dim > 2) refuse(region, node, "can be split by heads only");
  const Heads heads = divide_heads(region, node, "num_q_heads", "num_kv_heads");
  const NodeId stack = region.facts().find_stack(node);
  const int64_t width = stack ? need_stacked(region, node, stack, heads) : need_flat(region, node, heads);
  need_result(region, node, split, split.dim == 2 ? heads.q : width);
  need_past(region, node, stack ? 1 : 3, heads);
  give_present(region, node, 1, heads);
}

void follow_rotary(Region& region, NodeId node, uint32_t, const Split& split) {
  const ShapeFacts& facts = region.facts();
  const int64_t heads = facts.attributes(node).integer("num_heads", 0);
  if (split.dim != 1 && split.dim != kHeads) refuse(region, node, "can be split by heads only");
  if (split.dim == 1) {
    if (facts.rank(facts.operand(node, 0)) == 4) refuse(region, node, "can be split by heads only");
    if (heads <= 0) refuse(region, node, "has heads that are not counted");
  }
  if (heads > 0) {
    if (heads % region.ranks() != 0) refuse(region, node, "has heads that cannot be shared evenly");
    region.divide(node, "num_heads");
  }
  region.need(node, 0, split);
}

constexpr std::array<SplitRule, 4> kRules = {{{"Attention", "", follow_attention},
                                              {"GroupQueryAttention", "com.microsoft", follow_group_query},
                                              {"MultiHeadAttention", "com.microsoft", follow_multi_head},
                                              {"AttentionPlugin", "*", follow_plugin}}};
constexpr std::array<SplitRule, 2> kRotaryRules = {
    {{"RotaryEmbedding", "", follow_rotary}, {"RotaryEmbedding", "com.microsoft", follow_rotary}}};

}  // namespace

std::span<const SplitRule> attention_rules() { return kRules; }
std::span<const SplitRule> rotary_rules() { return kRotaryRules; }

}  // namespace assay::surgery
