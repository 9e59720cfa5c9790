#include <limits>

#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/limited_broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Integers are divided towards zero; a division by zero gives 0 and the one quotient that overflows wraps.
template <typename C>
C divide(C a, C b) {
  if constexpr (!std::is_floating_point_v<C>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<C>) {
      if (b == -1) return wrapping_subtract(C{0}, a);
    }
  }
  return a / b;
}

void eval_add(Eval& node) {
  elementwise_any(node, [](auto a, auto b) { return wrapping_add(a, b); });
}

void eval_sub(Eval& node) {
  elementwise_any(node, [](auto a, auto b) { return wrapping_subtract(a, b); });
}

void eval_mul(Eval& node) {
  elementwise_any(node, [](auto a, auto b) { return wrapping_multiply(a, b); });
}

void eval_div(Eval& node) {
  elementwise_any(node, [](auto a, auto b) { return divide(a, b); });
}

void infer_add(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return a + b; });
}

void infer_sub(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return a - b; });
}

void infer_mul(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return a * b; });
}

void infer_div(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) {
    const bool is_plain = a.is_non_negative() && b.is_number() && *b.number() > 0;
    return is_plain ? floor_div(a, *b.number()) : Dim();
  });
}

}  // namespace

OperatorRows operator_math_arithmetic() {
  static constexpr Traits kCommutativeArithmetic = {Nature::elementwise,
                                                    {.rounding = RoundingClass::arithmetic, .is_commutative = true}};
  static constexpr Traits kArithmetic = {Nature::elementwise, {.rounding = RoundingClass::arithmetic}};
  static constexpr Traits kDivision = {Nature::elementwise, {.rounding = RoundingClass::arithmetic, .divisors = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "Add", .traits = kCommutativeArithmetic, .infer = infer_limited_broadcast, .eval = limited<eval_add>},
      {.name = "Add", .since = 7, .traits = kCommutativeArithmetic, .infer = infer_add, .eval = eval_add},
      {.name = "Sub", .traits = kArithmetic, .infer = infer_limited_broadcast, .eval = limited<eval_sub>},
      {.name = "Sub", .since = 7, .traits = kArithmetic, .infer = infer_sub, .eval = eval_sub},
      {.name = "Mul", .traits = kCommutativeArithmetic, .infer = infer_limited_broadcast, .eval = limited<eval_mul>},
      {.name = "Mul", .since = 7, .traits = kCommutativeArithmetic, .infer = infer_mul, .eval = eval_mul},
      {.name = "Div", .traits = kDivision, .infer = infer_limited_broadcast, .eval = limited<eval_div>},
      {.name = "Div", .since = 7, .traits = kDivision, .infer = infer_div, .eval = eval_div},
  };
  return kRows;
}

}  // namespace assay::ops
