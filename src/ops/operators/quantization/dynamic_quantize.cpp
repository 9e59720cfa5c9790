#include <algorithm>
#include <cmath>

#include "ops/kernels/quantization/rounding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr double kHighest = 255;  // of uint8

void infer_dynamic_quantize(Infer& node) {
  infer_same_as_first(node);
  node.set_dims(1, {});
  node.set_dims(2, {});
}

double saturated(double x) { return x > 0 ? std::min(x, kHighest) : 0; }

// The range of the elements is widened to hold 0; if that is all it holds, the scale is 1. ONNX defines scale and
// quotients to be rounded to float32 before they are used.
void eval_dynamic_quantize(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  double low = 0;
  double high = 0;
  for (const double x : data) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const auto divide = [is_wide = node.is_wide()](double a, double b) {
    return is_wide ? a / b : static_cast<double>(static_cast<float>(a / b));
  };
  const double scale = low == high ? 1 : divide(high - low, kHighest);
  const double zero = round_even(saturated(divide(-low, scale)));
  for (double& x : data) x = saturated(round_even(divide(x, scale)) + zero);
  node.store(0, std::move(data));
  node.store(1, std::vector<double>{scale});
  node.store(2, std::vector<double>{zero});
}

}  // namespace

OperatorRows operator_quantization_dynamic_quantize() {
  static constexpr Operator kRows[] = {
      {.name = "DynamicQuantizeLinear", .infer = infer_dynamic_quantize, .eval = eval_dynamic_quantize},
  };
  return kRows;
}

}  // namespace assay::ops
