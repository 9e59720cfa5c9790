// Functions of elements.
#include <cmath>
#include <numbers>

#include "passes/opset/expansions.h"

namespace assay::passes {
namespace {

Refusal spell_swish(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const float alpha = draft.floating("alpha", 1);
  const DraftValue x = spelling.operand(0);
  const DraftValue scaled = alpha == 1 ? x : spelling.add("Mul", {x, spelling.number(alpha)});
  spelling.finish("Mul", {x, spelling.add("Sigmoid", {scaled})});
  return {};
}

Refusal spell_gelu(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const bool is_by_tanh = draft.string("approximate", "none") == "tanh";
  const DraftValue x = spelling.operand(0);
  DraftValue inner;
  if (is_by_tanh) {
    constexpr double kCubes = 0.044715;
    const DraftValue cube = spelling.add("Mul", {spelling.add("Mul", {x, x}), x});
    const DraftValue sum = spelling.add("Add", {x, spelling.add("Mul", {cube, spelling.number(kCubes)})});
    inner = spelling.add("Tanh", {spelling.add("Mul", {sum, spelling.number(std::sqrt(2 / std::numbers::pi))})});
  } else {
    inner = spelling.add("Erf", {spelling.add("Div", {x, spelling.number(std::numbers::sqrt2)})});
  }
  const DraftValue share = spelling.add("Add", {inner, spelling.number(1)});
  spelling.finish("Mul", {spelling.add("Mul", {x, spelling.number(0.5)}), share});
  return {};
}

Refusal spell_mish(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const DraftValue x = spelling.operand(0);
  spelling.finish("Mul", {x, spelling.add("Tanh", {spelling.add("Softplus", {x})})});
  return {};
}

Refusal spell_hard_swish(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const DraftValue x = spelling.operand(0);
  const DraftValue moved = spelling.add("Add", {x, spelling.number(3)});
  const DraftValue bounded = spelling.add("Clip", {moved, spelling.number(0), spelling.number(6)});
  spelling.finish("Div", {spelling.add("Mul", {x, bounded}), spelling.number(6)});
  return {};
}

Refusal spell_celu(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const DraftValue alpha = spelling.number(draft.floating("alpha", 1));
  const DraftValue scaled = spelling.add("Elu", {spelling.add("Div", {spelling.operand(0), alpha})});
  spelling.finish("Mul", {scaled, alpha});
  return {};
}

// A NaN is neither greater nor less, so that it takes two comparisons.
Refusal spell_or_equal(Draft& draft, std::string_view op) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const DraftValue a = spelling.operand(0), b = spelling.operand(1);
  spelling.compute_in(tensor::DType::boolean);
  const DraftValue beyond = spelling.add(op, {a, b});
  spelling.finish("Or", {beyond, spelling.add("Equal", {a, b})});
  return {};
}
Refusal spell_greater_or_equal(Draft& draft) { return spell_or_equal(draft, "Greater"); }
Refusal spell_less_or_equal(Draft& draft) { return spell_or_equal(draft, "Less"); }

Refusal spell_cast_like(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const tensor::DType dtype = draft.dtype(1);
  if (!tensor::is_known(dtype)) return "the type of its second input is not known";
  spelling.finish("Cast", {spelling.operand(0)}, {spelling.attribute("to", static_cast<int64_t>(dtype))});
  return {};
}

}  // namespace

std::span<const Expansion> function_expansions() {
  static constexpr Expansion kRows[] = {{"Swish", spell_swish},
                                        {"Gelu", spell_gelu},
                                        {"Mish", spell_mish},
                                        {"HardSwish", spell_hard_swish},
                                        {"Celu", spell_celu},
                                        {"GreaterOrEqual", spell_greater_or_equal},
                                        {"LessOrEqual", spell_less_or_equal},
                                        {"CastLike", spell_cast_like}};
  return kRows;
}

}  // namespace assay::passes
