#include <cmath>

#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/quantization/rounding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

template <double (*Function)(double)>
void eval_function(Eval& node) {
  elementwise<double>(node, [](double x) { return Function(x); });
}

void eval_neg(Eval& node) {
  elementwise_any(node, []<typename C>(C x) -> C {
    if constexpr (std::is_floating_point_v<C>)
      return -x;
    else
      return wrapping_subtract(C{0}, x);
  });
}

void eval_abs(Eval& node) {
  elementwise_any(node, []<typename C>(C x) -> C {
    if constexpr (std::is_floating_point_v<C>)
      return std::abs(x);
    else if constexpr (std::is_signed_v<C>)
      return x < 0 ? wrapping_subtract(C{0}, x) : x;
    else
      return x;
  });
}

void eval_sign(Eval& node) {
  elementwise_any(node, []<typename C>(C x) -> C {
    if (x > 0) return C{1};
    if constexpr (std::is_unsigned_v<C>)
      return x;
    else
      return x < 0 ? C{-1} : x;
  });
}

void infer_neg(Infer& node) {
  infer_elements_of_one(node, [](const Dim& a) { return Dim(0) - a; });
}

void infer_abs(Infer& node) {
  infer_elements_of_one(node, [](const Dim& a) {
    if (a.is_non_negative()) return a;
    return a.is_number() ? Dim(0) - a : Dim();
  });
}

void infer_sign(Infer& node) {
  infer_elements_of_one(node, [](const Dim& a) {
    if (a.is_number()) return Dim((*a.number() > 0) - (*a.number() < 0));
    return (a - Dim(1)).is_non_negative() ? Dim(1) : Dim();
  });
}

double reciprocal(double x) { return 1 / x; }

}  // namespace

OperatorRows operator_math_unary() {
  static constexpr Traits kExact = {Nature::elementwise, {.rounding = RoundingClass::exact}};
  static constexpr Traits kStepped = {Nature::elementwise, {.rounding = RoundingClass::stepped}};
  static constexpr Operator kRows[] = {
      {.name = "Abs", .traits = kExact, .infer = infer_abs, .eval = eval_abs},
      {.name = "Neg", .traits = kExact, .infer = infer_neg, .eval = eval_neg},
      {.name = "Sign",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::decided, .range = ValueRange::around_zero}},
       .infer = infer_sign,
       .eval = eval_sign},
      {.name = "Reciprocal",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::arithmetic, .divisors = {0}}},
       .infer = infer_same_as_first,
       .eval = eval_function<reciprocal>},
      {.name = "Sqrt",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::arithmetic, .domain = Domain::not_negative}},
       .infer = infer_same_as_first,
       .eval = eval_function<std::sqrt>},
      {.name = "Exp", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::exp>},
      {.name = "Log",
       .traits = {Nature::elementwise, {.domain = Domain::positive}},
       .infer = infer_same_as_first,
       .eval = eval_function<std::log>},
      {.name = "Ceil", .traits = kStepped, .infer = infer_same_as_first, .eval = eval_function<std::ceil>},
      {.name = "Floor", .traits = kStepped, .infer = infer_same_as_first, .eval = eval_function<std::floor>},
      {.name = "Round", .traits = kStepped, .infer = infer_same_as_first, .eval = eval_function<round_even>},
  };
  return kRows;
}

}  // namespace assay::ops
