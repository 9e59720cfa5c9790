// Before: nodes that give one of their operands as it is: Identity, Dropout at inference or of nothing, a Cast to the
//         type at hand, a Reshape to the shape at hand, a Slice of everything, x * 1, x - 0, Neg of Neg, and the like.
// After:  the operand in their place.
// Only if: every element keeps its bits, NaN and -0 too (x + 0 does not, x + -0 does), the shape is known to be the
//         same, and a graph output does not become an input or a second output.
#include <algorithm>
#include <array>

#include "ir/queries.h"
#include "match/uses.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

struct Context {
  PassRun& run;
  Inferred inferred;
  const ir::Model& model() const { return run.model(); }
};

void replace(Context& context, NodeId node, ValueId same, std::string_view reason) {
  const ir::Model& model = context.model();
  if (!same || !match::is_first_result_enough(model, node)) return;
  if (!context.run.rewriter().can_replace(result(model, node), same)) return;
  ir::Patch patch;
  patch.replace(result(model, node), same);
  patch.remove(node);
  context.run.rewriter().commit(reason, patch);
}

void identity(Context& context, NodeId node) {
  replace(context, node, operand(context.model(), node, 0), "a copy of its operand");
}

// True if the type is known; otherwise the operator may refuse it.
bool has_known_type(Context& context, NodeId node) {
  const ValueId made = result(context.model(), node);
  return made.valid() && context.inferred.dtype(made) != tensor::DType::undefined;
}

void dropout(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  if ((facts.version() < 7 && !facts.flag("is_test")) || !has_known_type(context, node)) return;
  const ValueId ratio = operand(context.model(), node, 1), training = operand(context.model(), node, 2);
  const tensor::Tensor* const share = ratio ? context.run.constant(ratio) : nullptr;
  const bool drops_none = share != nullptr && is_filled_with(*share, 0);
  if (facts.version() >= 12 && training && !drops_none && integer_of(context.run, training) != 0) return;
  replace(context, node, operand(context.model(), node, 0),
          drops_none ? "drops nothing" : "drops nothing at inference");
}

void cast(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  const ValueId in = operand(context.model(), node, 0);
  const tensor::DType from = context.inferred.dtype(in);
  if (from == tensor::DType::undefined) return;
  const bool is_like = facts.op() == "CastLike";
  if (!is_like && facts.version() < 6) return;  // the type is a word
  const tensor::DType to = is_like ? context.inferred.dtype(operand(context.model(), node, 1))
                                   : static_cast<tensor::DType>(facts.integer("to"));
  if (from == to) replace(context, node, in, "a cast to the type at hand");
}

void transpose(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  const ValueId in = operand(context.model(), node, 0);
  const std::vector<int64_t> perm = facts.integers("perm");
  const ops::Dims* const dims = context.inferred.dims(in);
  if (!dims || (!facts.has_attribute("perm") && dims->size() > 1)) return;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return;
  }
  replace(context, node, in, "moves no axis");
}

// Removes operators whose result is the operand as soon as it has its shape.
void same_shape(Context& context, NodeId node) {
  const ValueId in = operand(context.model(), node, 0);
  if (!in || !result(context.model(), node)) return;
  if (context.inferred.is_same_shape(in, result(context.model(), node))) {
    replace(context, node, in, "changes no dim");
  }
}

bool are_all(const std::optional<std::vector<int64_t>>& numbers, int64_t wanted) {
  return numbers && std::ranges::all_of(*numbers, [&](int64_t number) { return number == wanted; });
}

void pad(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  const std::string_view attribute = facts.version() < 2 ? "paddings" : "pads";
  if (are_all(integers_of(context.run, facts, 1, attribute, 11), 0)) {
    replace(context, node, operand(context.model(), node, 0), "pads nothing");
  }
}

void slice(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  if (facts.version() >= 10 && operand(context.model(), node, 4)) {
    const std::optional<std::vector<int64_t>> steps = integers_of(context.run, operand(context.model(), node, 4));
    if (!steps || std::ranges::any_of(*steps, [](int64_t step) { return step <= 0; })) return;
  }
  same_shape(context, node);
}

// Nearest neighbours at the places of the elements themselves.
void resize(Context& context, NodeId node) {
  const ops::Node facts = context.run.facts(node);
  if (facts.string("mode", "nearest") != "nearest") return;
  if (facts.string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") return;
  const bool is_first_version = facts.op() == "Upsample" || facts.version() < 11;
  const ValueId scales = operand(context.model(), node, is_first_version ? 1 : 2);
  if (scales) {
    const tensor::Tensor* constant = context.run.constant(scales);
    const bool is_left_out = constant && constant->count() == 0;
    if (!constant || (!is_left_out && !is_filled_with(*constant, 1))) return;
  } else if (is_first_version) {
    return;  // scales are an attribute
  }
  same_shape(context, node);
}

void only_operand(Context& context, NodeId node) {
  if (context.model()[node].operands.size() != 1 || !has_known_type(context, node)) return;
  replace(context, node, operand(context.model(), node, 0), "combines one operand");
}

void split(Context& context, NodeId node) {
  const ValueId sizes = operand(context.model(), node, 1);
  if (context.model()[node].results.size() != 1) return;
  if (sizes && context.inferred.dtype(sizes) == tensor::DType::undefined) return;
  replace(context, node, operand(context.model(), node, 0), "splits into one part");
}

// True if an operand of these dims leaves the dims of the other one alone.
bool is_scalar_for(Context& context, const tensor::Tensor& tensor, ValueId other) {
  if (tensor.shape().empty()) return true;
  if (tensor.count() != 1) return false;
  const ops::Dims* dims = context.inferred.dims(other);
  return dims && dims->size() >= tensor.shape().size();
}

void neutral_operand(Context& context, NodeId node, uint32_t index, double neutral) {
  const ir::Model& model = context.model();
  const ValueId other = operand(model, node, 1 - index);
  const tensor::Tensor* constant = context.run.constant(operand(model, node, index));
  if (!constant || !other || !result(model, node) || context.run.facts(node).version() < 7) return;
  if (constant->count() == 0 || !is_filled_with(*constant, neutral)) return;
  if (!is_scalar_for(context, *constant, other) && !context.inferred.is_same_shape(other, result(model, node))) return;
  replace(context, node, other, "its constant changes nothing");
}

void multiply(Context& context, NodeId node) {
  neutral_operand(context, node, 1, 1.0);
  if (context.model()[node].alive) neutral_operand(context, node, 0, 1.0);
}

void divide(Context& context, NodeId node) { neutral_operand(context, node, 1, 1.0); }

// -0 + 0 is 0, but x + -0 is always x; of integers there is one zero.
void add(Context& context, NodeId node) {
  for (const uint32_t index : {1u, 0u}) {
    if (!context.model()[node].alive) return;
    const tensor::Tensor* constant = context.run.constant(operand(context.model(), node, index));
    if (constant) neutral_operand(context, node, index, tensor::is_integer(constant->dtype()) ? 0.0 : -0.0);
  }
}

void subtract(Context& context, NodeId node) { neutral_operand(context, node, 1, 0.0); }

// The node that made the operand, if it is of the same operator.
NodeId same_before(Context& context, NodeId node) {
  const NodeId before = producer(context.model(), operand(context.model(), node, 0));
  if (!before || context.model()[before].op != context.model()[node].op) return {};
  return context.run.is_op(before, context.model().text(context.model()[node].op)) ? before : NodeId{};
}

void involution(Context& context, NodeId node) {
  const NodeId before = same_before(context, node);
  if (before.valid() && has_known_type(context, node)) {
    replace(context, node, operand(context.model(), before, 0), "undoes the node before it");
  }
}

void idempotent(Context& context, NodeId node) {
  if (same_before(context, node)) {
    replace(context, node, operand(context.model(), node, 0), "repeats the node before it");
  }
}

constexpr std::array kRules = {
    Rule<Context>{"Identity", identity},   Rule<Context>{"Dropout", dropout},
    Rule<Context>{"Cast", cast},           Rule<Context>{"CastLike", cast},
    Rule<Context>{"Transpose", transpose}, Rule<Context>{"Reshape", same_shape},
    Rule<Context>{"Expand", same_shape},   Rule<Context>{"Flatten", same_shape},
    Rule<Context>{"Squeeze", same_shape},  Rule<Context>{"Unsqueeze", same_shape},
    Rule<Context>{"Tile", same_shape},     Rule<Context>{"Pad", pad},
    Rule<Context>{"Slice", slice},         Rule<Context>{"Resize", resize},
    Rule<Context>{"Upsample", resize},     Rule<Context>{"Concat", only_operand},
    Rule<Context>{"Sum", only_operand},    Rule<Context>{"Mean", only_operand},
    Rule<Context>{"Max", only_operand},    Rule<Context>{"Min", only_operand},
    Rule<Context>{"Split", split},         Rule<Context>{"Mul", multiply},
    Rule<Context>{"Div", divide},          Rule<Context>{"Add", add},
    Rule<Context>{"Sub", subtract},        Rule<Context>{"Neg", involution},
    Rule<Context>{"Not", involution},      Rule<Context>{"BitwiseNot", involution},
    Rule<Context>{"Relu", idempotent},     Rule<Context>{"Abs", idempotent},
    Rule<Context>{"Ceil", idempotent},     Rule<Context>{"Floor", idempotent},
    Rule<Context>{"Round", idempotent},    Rule<Context>{"Sign", idempotent},
};

void remove_no_ops(PassRun& run) {
  Context context{run, Inferred(run)};
  apply_rules(run, context, kRules);
}

}  // namespace

Pass pass_simplify_remove_no_ops() {
  return {.name = "remove-no-ops", .summary = "remove nodes that return their operand unchanged", .run = remove_no_ops};
}

}  // namespace assay::passes
