#include <algorithm>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/limited_broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The slope's shape must broadcast to that of the input, which is that of the output.
void infer_prelu(Infer& node) {
  if (node.all_ranked()) {
    const Dims& dims = node.dims(0);
    const Dims& slope = node.dims(1);
    const Dims both = broadcast(dims, slope);
    bool fits = both.size() == dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      fits = !dims[i].is_number() || !both[i].is_number() || dims[i].equals(both[i]);
    }
    if (!fits) fail(ErrorCode::shape, "slope of shape {} does not broadcast to {}", text(slope), text(dims));
  }
  infer_same_as_first(node);
}

// Before version 7: one slope, one for each channel, or one for each element.
bool is_by_channel(const Dims& dims, const Dims& slope) {
  return slope.size() == 1 && dims.size() > 1 && !slope[0].is(1);
}

void infer_prelu_channels(Infer& node) {
  if (node.all_ranked()) {
    const Dims& dims = node.dims(0);
    const Dims& slope = node.dims(1);
    if (!is_by_channel(dims, slope)) return infer_prelu(node);
    unify(dims[1], slope[0], "channels and slopes");
  }
  infer_same_as_first(node);
}

void eval_prelu(Eval& node) {
  elementwise_any(node, [](auto x, auto slope) { return x < 0 ? wrapping_multiply(slope, x) : x; });
}

void eval_prelu_channels(Eval& node) {
  const bool by_channel = is_by_channel(dims_of(node.shape(0)), dims_of(node.shape(1)));
  if (by_channel) return eval_along_axis(node, 1, eval_prelu);
  eval_prelu(node);
}

}  // namespace

OperatorRows operator_math_prelu() {
  static constexpr Traits kArithmetic = {Nature::elementwise, {.rounding = RoundingClass::arithmetic}};
  static constexpr Operator kRows[] = {
      {.name = "PRelu", .traits = kArithmetic, .infer = infer_prelu_channels, .eval = eval_prelu_channels},
      {.name = "PRelu", .since = 7, .traits = kArithmetic, .infer = infer_prelu, .eval = eval_prelu},
  };
  return kRows;
}

}  // namespace assay::ops
