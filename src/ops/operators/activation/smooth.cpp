#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

// Activations made of exponentials.
namespace assay::ops {
namespace {

template <double (*Function)(double)>
void eval_function(Eval& node) {
  elementwise<double>(node, [](double x) { return Function(x); });
}

void eval_elu(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void eval_selu(Eval& node) {
  const double alpha = node.floating("alpha");
  const double gamma = node.floating("gamma");
  elementwise<double>(node, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)), NaN staying NaN.
void eval_celu(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double x) {
    const double bent = alpha * std::expm1(x / alpha);
    return (x < 0 ? 0 : x) + (bent > 0 ? 0 : bent);
  });
}

double softsign(double x) { return x / (1 + std::abs(x)); }

double mish(double x) { return x * std::tanh(softplus(x)); }

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

double gelu_tanh(double x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(scale * (x + 0.044715 * x * x * x)));
}

void infer_gelu(Infer& node) {
  const std::string_view mode = node.string("approximate");
  if (mode != "none" && mode != "tanh") {
    fail(ErrorCode::shape, "attribute `approximate` must be none or tanh, it is `{}`", mode);
  }
  infer_same_as_first(node);
}

void eval_gelu(Eval& node) {
  if (node.string("approximate") == "tanh") return eval_function<gelu_tanh>(node);
  eval_function<gelu>(node);
}

void eval_swish(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double x) { return x * sigmoid(alpha * x); });
}

void infer_swiglu(Infer& node) {
  if (!node.all_ranked()) return;
  Dims dims = node.dims(0);
  if (node.rank(1) != node.rank(0)) {
    fail(ErrorCode::shape, "inputs must have one shape, seen {} and {}", text(dims), text(node.dims(1)));
  }
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = unify(dims[i], node.dims(1)[i], "dims of both inputs");
  node.set_dims(0, std::move(dims));
}

void eval_swiglu(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double a, double b) { return a * sigmoid(alpha * a) * b; });
}

}  // namespace

OperatorRows operator_activation_smooth() {
  static constexpr Traits kActivation = {Nature::elementwise, {.rounding = RoundingClass::activation}};
  static constexpr Operator kRows[] = {
      {.name = "Elu", .traits = kActivation, .infer = infer_same_as_first, .eval = eval_elu},
      {.name = "Selu", .traits = kActivation, .infer = infer_same_as_first, .eval = eval_selu},
      {.name = "Celu", .traits = kActivation, .infer = infer_same_as_first, .eval = eval_celu},
      {.name = "Sigmoid",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::part_of_one, .range = ValueRange::part_of_one}},
       .infer = infer_same_as_first,
       .eval = eval_function<sigmoid>},
      {.name = "Softplus", .traits = kActivation, .infer = infer_same_as_first, .eval = eval_function<softplus>},
      {.name = "Softsign",
       .traits = {Nature::elementwise, {.range = ValueRange::around_zero}},
       .infer = infer_same_as_first,
       .eval = eval_function<softsign>},
      {.name = "Mish", .traits = kActivation, .infer = infer_same_as_first, .eval = eval_function<mish>},
      {.name = "Gelu", .traits = kActivation, .infer = infer_gelu, .eval = eval_gelu},
      {.name = "Swish", .traits = kActivation, .infer = infer_same_as_first, .eval = eval_swish},
      {.name = "SwiGLU", .traits = {Nature::product}, .infer = infer_swiglu, .eval = eval_swiglu},
  };
  return kRows;
}

}  // namespace assay::ops
