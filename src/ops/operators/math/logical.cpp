#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/limited_broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void eval_and(Eval& node) {
  elementwise<uint64_t>(node, [](uint64_t a, uint64_t b) { return a & b; });
}
void eval_or(Eval& node) {
  elementwise<uint64_t>(node, [](uint64_t a, uint64_t b) { return a | b; });
}
void eval_xor(Eval& node) {
  elementwise<uint64_t>(node, [](uint64_t a, uint64_t b) { return a ^ b; });
}
void eval_not(Eval& node) {
  elementwise<uint64_t>(node, [](uint64_t a) { return uint64_t{a == 0}; });
}

void infer_and(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return a.is(0) || b.is(0) ? Dim(0) : a * b; });
}
void infer_or(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) {
    if (a.is(1) || b.is(1)) return Dim(1);
    return a.is(0) && b.is(0) ? Dim(0) : Dim();
  });
}
void infer_xor(Infer& node) {
  infer_elements_of_two(
      node, [](const Dim& a, const Dim& b) { return a.is_number() && b.is_number() ? Dim(!a.equals(b)) : Dim(); });
}
void infer_not(Infer& node) {
  infer_elements_of_one(node, [](const Dim& a) { return a.is_number() ? Dim(a.is(0)) : Dim(); });
}

}  // namespace

OperatorRows operator_math_logical() {
  static constexpr Traits kCommutativeExact = {Nature::elementwise,
                                               {.rounding = RoundingClass::exact, .is_commutative = true}};
  static constexpr Operator kRows[] = {
      {.name = "And", .traits = kCommutativeExact, .infer = infer_limited_broadcast, .eval = limited<eval_and>},
      {.name = "And", .since = 7, .traits = kCommutativeExact, .infer = infer_and, .eval = eval_and},
      {.name = "Or", .traits = kCommutativeExact, .infer = infer_limited_broadcast, .eval = limited<eval_or>},
      {.name = "Or", .since = 7, .traits = kCommutativeExact, .infer = infer_or, .eval = eval_or},
      {.name = "Xor", .traits = kCommutativeExact, .infer = infer_limited_broadcast, .eval = limited<eval_xor>},
      {.name = "Xor", .since = 7, .traits = kCommutativeExact, .infer = infer_xor, .eval = eval_xor},
      {.name = "Not",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::exact}},
       .infer = infer_not,
       .eval = eval_not},
  };
  return kRows;
}

}  // namespace assay::ops
