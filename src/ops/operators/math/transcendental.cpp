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
  static constexpr Operator kRows[] = {
      {.name = "Sin", .traits = kPartOfOne, .infer = infer_same_as_first, .eval = eval_function<std::sin>},
      {.name = "Cos", .traits = kPartOfOne, .infer = infer_same_as_first, .eval = eval_function<std::cos>},
      {.name = "Tan", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::tan>},
      {.name = "Asin", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::asin>},
      {.name = "Acos", .traits = {Nature::elementwise}, .infer = infer_same_as_first, .eval = eval_function<std::acos>},
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
      {.name = "Acosh",
       .traits = {Nature::elementwise},
       .infer = infer_same_as_first,
       .eval = eval_function<std::acosh>},
      {.name = "Atanh",
       .traits = {Nature::elementwise},
       .infer = infer_same_as_first,
       .eval = eval_function<std::atanh>},
      {.name = "Erf", .traits = kPartOfOne, .infer = infer_same_as_first, .eval = eval_function<std::erf>},
  };
  return kRows;
}

}  // namespace assay::ops
