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
  static constexpr Operator kRows[] = {
      {.name = "Sin", .infer = infer_same_as_first, .eval = eval_function<std::sin>},
      {.name = "Cos", .infer = infer_same_as_first, .eval = eval_function<std::cos>},
      {.name = "Tan", .infer = infer_same_as_first, .eval = eval_function<std::tan>},
      {.name = "Asin", .infer = infer_same_as_first, .eval = eval_function<std::asin>},
      {.name = "Acos", .infer = infer_same_as_first, .eval = eval_function<std::acos>},
      {.name = "Atan", .infer = infer_same_as_first, .eval = eval_function<std::atan>},
      {.name = "Sinh", .infer = infer_same_as_first, .eval = eval_function<std::sinh>},
      {.name = "Cosh", .infer = infer_same_as_first, .eval = eval_function<std::cosh>},
      {.name = "Tanh", .infer = infer_same_as_first, .eval = eval_function<std::tanh>},
      {.name = "Asinh", .infer = infer_same_as_first, .eval = eval_function<std::asinh>},
      {.name = "Acosh", .infer = infer_same_as_first, .eval = eval_function<std::acosh>},
      {.name = "Atanh", .infer = infer_same_as_first, .eval = eval_function<std::atanh>},
      {.name = "Erf", .infer = infer_same_as_first, .eval = eval_function<std::erf>},
  };
  return kRows;
}

}  // namespace assay::ops
