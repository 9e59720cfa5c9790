#include <cmath>
#include <numbers>

#include "ops/kernels/elements/result_type.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// a[0] - a[1] * cos(x) + a[2] * cos(x)^2
struct Cosines {
  double a[3];
};

constexpr Cosines kHann{{0.5, 0.5, 0}};
constexpr Cosines kHamming{{25.0 / 46, 21.0 / 46, 0}};
constexpr Cosines kBlackman{{0.34, 0.5, 0.16}};  // 0.42 - 0.5 * cos(x) + 0.08 * cos(2x)

void infer_window(Infer& node) {
  node.set_dtype(0, result_type(node, "output_datatype"));
  if (node.is_ranked(0) && product(node.dims(0)).is_number() && !product(node.dims(0)).is(1)) {
    fail(ErrorCode::shape, "the size must be a scalar, its shape is {}", text(node.dims(0)));
  }
  const std::optional<Elements> size = node.elements(0);
  node.set_dims(0, {size && size->items.size() == 1 ? size->items[0] : Dim()});
}

// A symmetric window of one element, for which the formula is not defined, holds 1.
void eval_window(Eval& node, const Cosines& window) {
  std::vector<double> values(node.out_count(0));
  const auto period = static_cast<double>(values.size()) - (node.flag("periodic") ? 0 : 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const double cosine = std::cos(2 * std::numbers::pi * static_cast<double>(i) / period);
    values[i] = period == 0 ? 1 : window.a[0] - window.a[1] * cosine + window.a[2] * cosine * cosine;
  }
  node.store(0, std::move(values));
}

}  // namespace

OperatorRows operator_signal_window() {
  static constexpr Traits kContinuous = {
      Nature::generator, {.rounding = RoundingClass::continuous, .sizes = {0}, .typed_by = "output_datatype"}};
  static constexpr Operator kRows[] = {
      {.name = "HannWindow",
       .traits = kContinuous,
       .infer = infer_window,
       .eval = [](Eval& node) { eval_window(node, kHann); }},
      {.name = "HammingWindow",
       .traits = kContinuous,
       .infer = infer_window,
       .eval = [](Eval& node) { eval_window(node, kHamming); }},
      {.name = "BlackmanWindow",
       .traits = kContinuous,
       .infer = infer_window,
       .eval = [](Eval& node) { eval_window(node, kBlackman); }},
  };
  return kRows;
}

}  // namespace assay::ops
