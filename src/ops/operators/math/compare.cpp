#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/known_elements.h"
#include "ops/kernels/elements/limited_broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

template <typename Compare>
void eval_compare(Eval& node, Compare compare) {
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    elementwise<C, uint64_t>(node, [=](C a, C b) { return uint64_t{compare(a, b)}; });
  });
}

void equal_strings(Eval& node) {
  const Shape shape = node.out_shape(0);
  const BroadcastReader a(node.tensor_in(0), shape);
  const BroadcastReader b(node.tensor_in(1), shape);
  const std::span<const std::string> left = node.tensor_in(0).strings();
  const std::span<const std::string> right = node.tensor_in(1).strings();
  std::vector<uint64_t> result(node.out_count(0));
  for (uint64_t i = 0; i < result.size(); ++i) result[i] = left[a.source_of(i)] == right[b.source_of(i)];
  node.store(0, std::move(result));
}

void eval_equal(Eval& node) {
  if (node.dtype(0) == DType::string) return equal_strings(node);
  eval_compare(node, [](auto a, auto b) { return a == b; });
}
void eval_less(Eval& node) {
  eval_compare(node, [](auto a, auto b) { return a < b; });
}
void eval_less_or_equal(Eval& node) {
  eval_compare(node, [](auto a, auto b) { return a <= b; });
}
void eval_greater(Eval& node) {
  eval_compare(node, [](auto a, auto b) { return a > b; });
}
void eval_greater_or_equal(Eval& node) {
  eval_compare(node, [](auto a, auto b) { return a >= b; });
}

std::optional<bool> negated(std::optional<bool> known) { return known ? std::optional(!*known) : std::nullopt; }

void infer_equal(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return element_of(known_equal(a, b)); });
}
void infer_less(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return element_of(known_less(a, b)); });
}
void infer_less_or_equal(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return element_of(negated(known_less(b, a))); });
}
void infer_greater(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return element_of(known_less(b, a)); });
}
void infer_greater_or_equal(Infer& node) {
  infer_elements_of_two(node, [](const Dim& a, const Dim& b) { return element_of(negated(known_less(a, b))); });
}

}  // namespace

OperatorRows operator_math_compare() {
  static constexpr Traits kCommutativeDecided = {Nature::elementwise,
                                                 {.rounding = RoundingClass::decided, .is_commutative = true}};
  static constexpr Traits kDecided = {Nature::elementwise, {.rounding = RoundingClass::decided}};
  static constexpr Operator kRows[] = {
      {.name = "Equal", .traits = kCommutativeDecided, .infer = infer_limited_broadcast, .eval = limited<eval_equal>},
      {.name = "Equal", .since = 7, .traits = kCommutativeDecided, .infer = infer_equal, .eval = eval_equal},
      {.name = "Less", .traits = kDecided, .infer = infer_limited_broadcast, .eval = limited<eval_less>},
      {.name = "Less", .since = 7, .traits = kDecided, .infer = infer_less, .eval = eval_less},
      {.name = "Greater", .traits = kDecided, .infer = infer_limited_broadcast, .eval = limited<eval_greater>},
      {.name = "Greater", .since = 7, .traits = kDecided, .infer = infer_greater, .eval = eval_greater},
      {.name = "LessOrEqual", .traits = kDecided, .infer = infer_less_or_equal, .eval = eval_less_or_equal},
      {.name = "GreaterOrEqual", .traits = kDecided, .infer = infer_greater_or_equal, .eval = eval_greater_or_equal},
  };
  return kRows;
}

}  // namespace assay::ops
