// Before: Transpose of Transpose; Reshape of Reshape, Flatten, Squeeze or Unsqueeze; Cast of Cast; Squeeze of Unsqueeze
//         and the reverse; Concat of Concat along one axis; Pad with zeros of Pad with zeros.
// After:  one node, or none where the second undoes the first.
// Only if: shapes and axes are constant; the first Cast is lossless (float16 to float32 to float16, never float32 to
//         float16 to float32); the first Concat or Pad has no other use.
#include <algorithm>
#include <array>

#include "ir/queries.h"
#include "match/uses.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/lossless.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;

struct Context {
  PassRun& run;
  Inferred inferred;
  const ir::Model& model() const { return run.model(); }
};

// The node that made an operand, if it is of this operator.
NodeId before(Context& context, NodeId node, std::string_view op, uint32_t index = 0) {
  const NodeId made = producer(context.model(), operand(context.model(), node, index));
  if (!made || !context.run.is_op(made, op) || has_references(context.model()[made])) return {};
  return made;
}

std::vector<ir::Attribute> attributes_of(const ir::Model& model, NodeId node) {
  return {model[node].attributes.begin(), model[node].attributes.end()};
}

// Commits `patch`, which replaces the node, and takes the chain down to its first node along where nothing else needs
// it.
void commit(Context& context, std::string_view reason, ir::Patch& patch, NodeId first, NodeId node) {
  const ir::Model& model = context.model();
  patch.insert_before(node);
  patch.remove(node);
  for (NodeId last = node; last != first;) {
    const ValueId between = operand(model, last, 0);
    if (!match::is_only_for(model, between, last) || !match::is_first_result_enough(model, model[between].producer))
      break;
    last = model[between].producer;
    patch.remove(last);
  }
  context.run.rewriter().commit(reason, patch);
}

void merge(Context& context, std::string_view reason, NodeId first, NodeId node, ir::PatchNode merged) {
  ir::Patch patch;
  patch.replace(result(context.model(), node), patch.add(std::move(merged)));
  commit(context, reason, patch, first, node);
}

void cancel(Context& context, std::string_view reason, NodeId first, NodeId node, ValueId value) {
  const ValueId old = result(context.model(), node);
  if (!context.run.rewriter().can_replace(old, value)) {
    return merge(context, reason, first, node, {.op = "Identity", .operands = {value}});
  }
  ir::Patch patch;
  patch.replace(old, value);
  commit(context, reason, patch, first, node);
}

std::vector<int64_t> permutation(const ops::Node& transpose, size_t rank) {
  std::vector<int64_t> perm = transpose.integers("perm");
  if (transpose.has_attribute("perm")) return perm;
  for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  return perm;
}

void transpose(Context& context, NodeId node) {
  const NodeId first = before(context, node, "Transpose");
  if (!first) return;
  const ops::Node outer = context.run.facts(node);
  const ops::Node inner = context.run.facts(first);
  const ValueId in = operand(context.model(), first, 0);
  if (!outer.has_attribute("perm") && !inner.has_attribute("perm")) {
    return cancel(context, "one Transpose undoes the other", first, node, in);
  }
  const size_t rank = std::max(outer.integers("perm").size(), inner.integers("perm").size());
  const std::vector<int64_t> second = permutation(outer, rank);
  const std::vector<int64_t> start = permutation(inner, rank);
  if (start.size() != second.size()) return;
  std::vector<int64_t> perm;
  for (const int64_t axis : second) {
    if (axis < 0 || static_cast<size_t>(axis) >= rank) return;
    perm.push_back(start[static_cast<size_t>(axis)]);
  }
  if (std::ranges::is_sorted(perm)) return cancel(context, "one Transpose undoes the other", first, node, in);
  merge(context, "merge two Transposes", first, node,
        {.op = "Transpose", .operands = {in}, .attributes = {integers_attribute(context.run, "perm", perm)}});
}

// The node before, if it keeps all elements in their order.
NodeId reshape_before(Context& context, NodeId node) {
  const NodeId made = producer(context.model(), operand(context.model(), node, 0));
  return is_reshape(context.run, made) ? made : NodeId{};
}

// The first of all such nodes before.
NodeId first_reshape(Context& context, NodeId node) {
  constexpr int kLongest = 64;
  NodeId first;
  for (int i = 0; i < kLongest; ++i) {
    const NodeId earlier = reshape_before(context, first ? first : node);
    if (!earlier) break;
    first = earlier;
  }
  return first;
}

void reshape(Context& context, NodeId node) {
  const NodeId first = first_reshape(context, node);
  const ops::Node facts = context.run.facts(node);
  const std::optional<std::vector<int64_t>> shape = integers_of(context.run, operand(context.model(), node, 1));
  if (!first || !shape || facts.version() < 5) return;
  if (std::ranges::count(*shape, 0) > 0 && !facts.flag("allowzero")) return;  // a dim of what comes between
  merge(context, "merge two changes of shape", first, node,
        {.op = "Reshape",
         .operands = {operand(context.model(), first, 0), operand(context.model(), node, 1)},
         .attributes = attributes_of(context.model(), node)});
}

std::optional<std::vector<int64_t>> axes_of(Context& context, NodeId node) {
  std::optional<std::vector<int64_t>> axes = integers_of(context.run, context.run.facts(node), 1, "axes", 13);
  if (axes) std::ranges::sort(*axes);
  return axes;
}

// Replaces the node by a Reshape to the shape that is known.
void reshape_to_known(Context& context, NodeId node) {
  const NodeId first = first_reshape(context, node);
  const ValueId value = result(context.model(), node);
  if (!first || !value || context.run.facts(node).version() < 5) return;
  if (!match::is_only_for(context.model(), operand(context.model(), node, 0), node)) return;
  const std::optional<tensor::Shape> shape = context.inferred.shape(value);
  if (!shape || std::ranges::count(*shape, 0) > 0) return;
  ir::Patch patch;
  const PatchValue target = patch.add_constant(integer_tensor(*shape));
  patch.replace(value, patch.add({.op = "Reshape", .operands = {operand(context.model(), first, 0), target}}));
  commit(context, "merge two changes of shape", patch, first, node);
}

void squeeze_or_unsqueeze(Context& context, NodeId node) {
  const bool is_squeeze = context.run.facts(node).op() == "Squeeze";
  const NodeId first = before(context, node, is_squeeze ? "Unsqueeze" : "Squeeze");
  const std::optional<std::vector<int64_t>> axes = axes_of(context, node);
  if (first && axes && axes == axes_of(context, first)) {
    return cancel(context, "Squeeze and Unsqueeze of the same axes", first, node, operand(context.model(), first, 0));
  }
  reshape_to_known(context, node);
}

void cast(Context& context, NodeId node) {
  const NodeId first = before(context, node, "Cast");
  if (!first || context.run.facts(node).version() < 6) return;
  const ValueId in = operand(context.model(), first, 0);
  const auto through = static_cast<tensor::DType>(context.run.facts(first).integer("to"));
  const auto to = static_cast<tensor::DType>(context.run.facts(node).integer("to"));
  if (!is_cast_chain_direct(context.inferred.dtype(in), through, to)) return;
  merge(context, "the first Cast loses nothing", first, node,
        {.op = "Cast", .operands = {in}, .attributes = attributes_of(context.model(), node)});
}

std::optional<int64_t> concat_axis(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  if (facts.version() < 4 || has_references(context.model()[node])) return std::nullopt;
  return facts.integer("axis");
}

// True if an operand is a Concat that another Concat along this axis may take in.
bool is_part(Context& context, ValueId value, NodeId user, int64_t axis) {
  const NodeId made = producer(context.model(), value);
  return made && context.run.is_op(made, "Concat") && match::is_only_for(context.model(), value, user) &&
         !context.model()[user].is_outputs && concat_axis(context, made) == axis;
}

// True if a node further down takes this one in.
bool has_outer_concat(Context& context, NodeId node, int64_t axis) {
  const ir::Use* use = context.model()[result(context.model(), node)].first_use;
  if (!use || context.model()[use->user].is_outputs || !context.run.is_op(use->user, "Concat")) return false;
  return concat_axis(context, use->user) == axis && is_part(context, use->value, use->user, axis);
}

void concat(Context& context, NodeId node) {
  const ir::Model& model = context.model();
  const std::optional<int64_t> axis = concat_axis(context, node);
  if (!axis || !result(model, node) || has_outer_concat(context, node, *axis)) return;
  std::vector<PatchValue> operands;
  std::vector<NodeId> merged = {node};
  std::vector<const ir::Use*> pending;
  const auto push = [&](NodeId concat) {
    for (size_t i = model[concat].operands.size(); i-- > 0;) pending.push_back(&model[concat].operands[i]);
  };
  push(node);
  while (!pending.empty()) {
    const ir::Use* use = pending.back();
    pending.pop_back();
    if (!use->value || !is_part(context, use->value, use->user, *axis)) {
      operands.push_back(use->value);
      continue;
    }
    merged.push_back(model[use->value].producer);
    push(merged.back());
  }
  if (merged.size() == 1) return;
  ir::Patch patch;
  patch.insert_before(node);
  patch.replace(result(model, node),
                patch.add({.op = "Concat", .operands = std::move(operands), .attributes = attributes_of(model, node)}));
  for (const NodeId old : merged) patch.remove(old);
  context.run.rewriter().commit("merge Concats along one axis", patch);
}

// The pads of a Pad with zeros of all axes; none of them negative.
std::optional<std::vector<int64_t>> zero_pads(Context& context, NodeId node) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const ops::Node facts = context.run.facts(node);
  if (facts.version() < 11 || facts.string("mode", "constant") != "constant") return std::nullopt;
  if (operand(context.model(), node, 3)) return std::nullopt;
  if (const ValueId value = operand(context.model(), node, 2)) {
    const tensor::Tensor* constant = context.run.constant(value);
    if (!constant || !is_filled_with(*constant, 0.0)) return std::nullopt;
  }
  std::optional<std::vector<int64_t>> pads = integers_of(context.run, operand(context.model(), node, 1));
  if (!pads || std::ranges::any_of(*pads, [](int64_t pad) { return pad < 0 || pad > kMost; })) return std::nullopt;
  return pads;
}

void pad(Context& context, NodeId node) {
  const NodeId first = before(context, node, "Pad");
  if (!first || !match::is_only_for(context.model(), result(context.model(), first), node)) return;
  const std::optional<std::vector<int64_t>> inner = zero_pads(context, first);
  std::optional<std::vector<int64_t>> pads = zero_pads(context, node);
  if (!inner || !pads || inner->size() != pads->size()) return;
  for (size_t i = 0; i < pads->size(); ++i) (*pads)[i] += (*inner)[i];
  ir::Patch patch;
  std::vector<PatchValue> operands = {operand(context.model(), first, 0), patch.add_constant(integer_tensor(*pads))};
  if (const ValueId value = operand(context.model(), node, 2)) operands.emplace_back(value);
  patch.replace(result(context.model(), node),
                patch.add({.op = "Pad", .operands = operands, .attributes = attributes_of(context.model(), node)}));
  commit(context, "merge two Pads", patch, first, node);
}

constexpr std::array kRules = {
    Rule<Context>{"Transpose", transpose},
    Rule<Context>{"Reshape", reshape},
    Rule<Context>{"Flatten", reshape_to_known},
    Rule<Context>{"Squeeze", squeeze_or_unsqueeze},
    Rule<Context>{"Unsqueeze", squeeze_or_unsqueeze},
    Rule<Context>{"Cast", cast},
    Rule<Context>{"Concat", concat},
    Rule<Context>{"Pad", pad},
};

// Again where a merged chain has left another as the only user of what both began with.
void merge_chains(PassRun& run) {
  constexpr int kMostRounds = 10;
  Context context{run, Inferred(run)};
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t steps = run.rewriter().steps().size();
    apply_rules(run, context, kRules);
    if (run.rewriter().steps().size() == steps) break;
  }
}

}  // namespace

Pass pass_simplify_merge_chains() {
  return {.name = "merge-chains", .summary = "make one node of chains that only move or cast", .run = merge_chains};
}

}  // namespace assay::passes
