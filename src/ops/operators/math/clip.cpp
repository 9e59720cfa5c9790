#include <cmath>
#include <limits>

#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void require_one_element(const Infer& node, uint32_t input, const char* name) {
  if (!node.is_ranked(input)) return;
  const Dims& dims = node.dims(input);
  const bool fits = dims.empty() || (dims.size() == 1 && (dims[0].is(1) || !dims[0].is_number()));
  if (!fits) fail(ErrorCode::shape, "`{}` must be a scalar, its shape is {}", name, text(dims));
}

void infer_clip(Infer& node) {
  require_one_element(node, 1, "min");
  require_one_element(node, 2, "max");
  const std::optional<int64_t> low = node.has(1) ? node.integer_of(1) : std::nullopt;
  const std::optional<int64_t> high = node.has(2) ? node.integer_of(2) : std::nullopt;
  const bool is_known = (low || !node.has(1)) && (high || !node.has(2));
  infer_elements_of_one(node, [&](const Dim& a) {
    if (!is_known) return Dim();
    const Dim raised = low ? max(a, Dim(*low)) : a;
    return high ? min(raised, Dim(*high)) : raised;
  });
}

// Min(high, Max(x, low)): where low is above high, all become high. NaN stays NaN.
template <typename C>
void clip(Eval& node, C low, C high) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(low)) high = low;
    if (std::isnan(high)) return elementwise<C>(node, [=](C) { return high; });
  }
  elementwise<C>(node, [=](C x) {
    const C raised = x < low ? low : x;
    return raised > high ? high : raised;
  });
}

// A limit that is not given is the least or greatest finite number of the type.
void eval_clip(Eval& node) {
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    clip<C>(node, node.scalar<C>(1, lowest_of<C>(node.dtype(0))), node.scalar<C>(2, highest_of<C>(node.dtype(0))));
  });
}

void eval_clip_attributes(Eval& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  clip(node, node.floating("min", -kInfinity), node.floating("max", kInfinity));
}

}  // namespace

OperatorRows operator_math_clip() {
  static constexpr Traits kExact = {Nature::elementwise, {.rounding = RoundingClass::exact}};
  static constexpr Operator kRows[] = {
      {.name = "Clip", .traits = kExact, .infer = infer_same_as_first, .eval = eval_clip_attributes},
      {.name = "Clip", .since = 11, .traits = kExact, .infer = infer_clip, .eval = eval_clip},
  };
  return kRows;
}

}  // namespace assay::ops
