#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void eval_is_nan(Eval& node) {
  elementwise<double, uint64_t>(node, [](double x) -> uint64_t { return std::isnan(x); });
}

void eval_is_inf(Eval& node) {
  const bool negative = node.flag("detect_negative");
  const bool positive = node.flag("detect_positive");
  elementwise<double, uint64_t>(node,
                                [=](double x) -> uint64_t { return std::isinf(x) && (x < 0 ? negative : positive); });
}

}  // namespace

OperatorRows operator_math_classify() {
  static constexpr Traits kExact = {Nature::elementwise, {.rounding = RoundingClass::exact}};
  static constexpr Operator kRows[] = {
      {.name = "IsNaN", .traits = kExact, .infer = infer_same_as_first, .eval = eval_is_nan},
      {.name = "IsInf", .traits = kExact, .infer = infer_same_as_first, .eval = eval_is_inf},
  };
  return kRows;
}

}  // namespace assay::ops
