#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Any numbers; integers are truncated.
template <double (*Function)(double)>
void eval_function(Eval& node) {
  elementwise<double>(node, [](double x) { return Function(x); });
}

}  // namespace

OperatorRows operator_math_transcendental() {
  static constexpr Traits kPartOfOne = {Nature::elementwise,
                                        {.rounding = RoundingClass::part_of_one, .range = ValueRange::around_zero}};
  static constexpr Traits kPeriodic = {
      Nature::elementwise,
      {.rounding = RoundingClass::part_of_one, .range = ValueRange::around_zero, .is_periodic = true}};
  static constexpr Traits kBounded = {Nature::elementwise, {.domain = Domain::bounded}};
  static constexpr Operator kRows[] = {
      {.name = "Sin", .traits = kPeriodic, .infer = infer_same_as_first, .eval = eval_function<std::sin>},
      {.name = "Cos", .traits = kPeriodic, .infer = infer_same_as_first, .eval = eval_function<std::cos>},
      {.name = "Tan",
       .traits = {Nature::elementwise, {.is_periodic = true}},
       .infer = infer_same_as_first,
       .eval = eval_function<std::tan>},
      {.name = "Asin", .traits = kBounded, .infer = infer_same_as_first, .eval = eval_function<std::asin>},
      {.name = "Acos", .traits = kBounded, .infer = infer_same_as_first, .eval = eval_function<std::acos>},
      {.name = "Atan", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::atan>},
      {.name = "Sinh", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::sinh>},
      {.name = "Cosh", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::cosh>},
      {.name = "Tanh",
       .traits = {Nature::elementwise, {.range = ValueRange::around_zero}},
       .infer = infer_same_as_first,
       .eval = eval_function<std::tanh>},
      {.name = "Asinh",
       .traits = {Nature::elementwise},
       .infer = infer_same_as_first,
       .eval = eval_function<std::asinh>},
      {.name = "Acosh", .traits = kBounded, .infer = infer_same_as_first, .eval = eval_function<std::acosh>},
      {.name = "Atanh", .traits = kBounded, .infer = infer_same_as_first, .eval = eval_function<std::atanh>},
      {.name = "Erf", .traits = kPartOfOne, .infer = infer_same_as_first, .eval = eval_function<std::erf>},
  };
  return kRows;
}

}  // namespace assay::ops
