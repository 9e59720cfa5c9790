#include <cmath>

#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The sign of the dividend.
template <typename C>
C truncated(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    return std::fmod(a, b);
  else if (b == 0)
    return 0;
  else if constexpr (std::is_signed_v<C>)
    return b == -1 ? 0 : a % b;
  else
    return a % b;
}

// The sign of the divisor, zeros included.
template <typename C>
C floored(C a, C b) {
  const C rest = truncated(a, b);
  if constexpr (std::is_floating_point_v<C>) {
    if (rest == 0) return std::copysign(rest, b);
  }
  if constexpr (!std::is_unsigned_v<C>) {
    if (rest != 0 && (rest < 0) != (b < 0)) return rest + b;
  }
  return rest;
}

void infer_mod(Infer& node) {
  const int64_t fmod = node.integer("fmod");
  if (fmod != 0 && fmod != 1) fail(ErrorCode::shape, "attribute `fmod` must be 0 or 1, it is {}", fmod);
  if (node.version() < 28 && fmod == 0 && tensor::is_floating(node.dtype(0))) {
    fail(ErrorCode::shape, "attribute `fmod` must be 1 for {}", tensor::name(node.dtype(0)));
  }
  infer_elements_of_two(node, [=](const Dim& a, const Dim& b) {
    if (!b.is_number()) return Dim();
    if (a.is_number()) return Dim(fmod ? truncated(*a.number(), *b.number()) : floored(*a.number(), *b.number()));
    if (!a.is_non_negative() || *b.number() <= 0) return Dim();
    return a - floor_div(a, *b.number()) * b;
  });
}

void eval_mod(Eval& node) {
  if (node.flag("fmod")) return elementwise_any(node, [](auto a, auto b) { return truncated(a, b); });
  elementwise_any(node, [](auto a, auto b) { return floored(a, b); });
}

}  // namespace

OperatorRows operator_math_mod() {
  static constexpr Operator kRows[] = {
      {.name = "Mod",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::stepped, .divisors = {1}}},
       .infer = infer_mod,
       .eval = eval_mod},
  };
  return kRows;
}

}  // namespace assay::ops
