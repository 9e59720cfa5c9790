#include "ops/kernels/elements/fused_activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ops/kernels/elements/sigmoid.h"

namespace assay::ops {
namespace {

constexpr std::array<std::string_view, 14> kNames = {
    "",         "Identity", "Relu", "Sigmoid",         "Tanh",       "LeakyRelu", "Elu", "HardSigmoid",
    "Softplus", "Softsign", "Clip", "ThresholdedRelu", "ScaledTanh", "Affine"};

}  // namespace

FusedActivation::FusedActivation(std::string_view name, std::vector<double> parameters)
    : name_(name), parameters_(std::move(parameters)) {
  if (std::ranges::find(kNames, name) == kNames.end()) fail(ErrorCode::shape, "there is no activation `{}`", name);
}

double FusedActivation::operator()(double x) const {
  if (name_ == "Relu") return x < 0 ? 0 : x;
  if (name_ == "Sigmoid") return sigmoid(x);
  if (name_ == "Tanh") return std::tanh(x);
  if (name_ == "LeakyRelu") return x < 0 ? parameter(0, 0.01) * x : x;
  if (name_ == "Elu") return x < 0 ? parameter(0, 1) * std::expm1(x) : x;
  if (name_ == "HardSigmoid") return std::clamp(parameter(0, 0.2) * x + parameter(1, 0.5), 0.0, 1.0);
  if (name_ == "Softplus") return softplus(x);
  if (name_ == "Softsign") return x / (1 + std::abs(x));
  if (name_ == "Clip") return std::min(std::max(x, parameter(0, -HUGE_VAL)), parameter(1, HUGE_VAL));
  if (name_ == "ThresholdedRelu") return x > parameter(0, 1) ? x : 0;
  if (name_ == "ScaledTanh") return parameter(0, 1) * std::tanh(parameter(1, 1) * x);
  if (name_ == "Affine") return parameter(0, 1) * x + parameter(1, 0);
  return x;
}

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

double fast_gelu(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

}  // namespace assay::ops
