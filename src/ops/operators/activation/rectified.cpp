#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/operator.h"

// Activations with one or more straight parts.
namespace assay::ops {
namespace {

// NaN stays NaN.
void eval_relu(Eval& node) {
  elementwise_any(node, []<typename C>(C x) -> C { return x < 0 ? C{0} : x; });
}

void eval_leaky_relu(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double x) { return x < 0 ? alpha * x : x; });
}

void eval_thresholded_relu(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double x) { return x > alpha ? x : 0; });
}

double clamp_to_one(double x) {
  if (x > 1) return 1;
  return x < 0 ? 0 : x;
}

void eval_hard_sigmoid(Eval& node) {
  const double alpha = node.floating("alpha");
  const double beta = node.floating("beta");
  elementwise<double>(node, [=](double x) { return clamp_to_one(alpha * x + beta); });
}

void eval_hard_swish(Eval& node) {
  elementwise<double>(node, [](double x) { return x * clamp_to_one(x / 6 + 0.5); });
}

double shrink(double x, double lambd, double bias) {
  if (x < -lambd) return x + bias;
  return x > lambd ? x - bias : 0;
}

// Exact for integers of any size; a fraction of the sum is cut off.
template <typename C>
C shrink_integer(C x, double lambd, double bias) {
  const auto value = static_cast<double>(x);
  if (value >= -lambd && value <= lambd) return 0;
  const double moved = value < -lambd ? bias : -bias;
  const double step = value + moved >= 0 ? std::floor(moved) : std::ceil(moved);
  const bool fits = std::abs(step) < 0x1p63;
  return fits ? wrapping_add(x, static_cast<C>(static_cast<int64_t>(step))) : C{0};
}

void eval_shrink(Eval& node) {
  const double lambd = node.floating("lambd");
  const double bias = node.floating("bias");
  elementwise_any(node, [=]<typename C>(C x) -> C {
    if constexpr (std::is_floating_point_v<C>)
      return shrink(x, lambd, bias);
    else
      return shrink_integer(x, lambd, bias);
  });
}

}  // namespace

OperatorRows operator_activation_rectified() {
  static constexpr Traits kArithmetic = {Nature::elementwise, {.rounding = RoundingClass::arithmetic}};
  static constexpr Operator kRows[] = {
      {.name = "Relu",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::exact}},
       .infer = infer_same_as_first,
       .eval = eval_relu},
      {.name = "LeakyRelu", .traits = kArithmetic, .infer = infer_same_as_first, .eval = eval_leaky_relu},
      {.name = "ThresholdedRelu", .traits = kArithmetic, .infer = infer_same_as_first, .eval = eval_thresholded_relu},
      {.name = "HardSigmoid",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::part_of_one, .range = ValueRange::part_of_one}},
       .infer = infer_same_as_first,
       .eval = eval_hard_sigmoid},
      {.name = "HardSwish",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::activation}},
       .infer = infer_same_as_first,
       .eval = eval_hard_swish},
      {.name = "Shrink",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::selected}},
       .infer = infer_same_as_first,
       .eval = eval_shrink},
  };
  return kRows;
}

}  // namespace assay::ops
