#include "ops/kernels/elements/elementwise.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void eval_and(Eval& node) {
  elementwise<int64_t>(node, [](int64_t a, int64_t b) { return a & b; });
}
void eval_or(Eval& node) {
  elementwise<int64_t>(node, [](int64_t a, int64_t b) { return a | b; });
}
void eval_xor(Eval& node) {
  elementwise<int64_t>(node, [](int64_t a, int64_t b) { return a ^ b; });
}
void eval_not(Eval& node) {
  elementwise<int64_t>(node, [](int64_t a) { return ~a; });
}

bool is_left(const Node& node) {
  const std::string_view direction = node.string("direction");
  if (direction == "LEFT") return true;
  if (direction == "RIGHT") return false;
  fail(ErrorCode::shape, "attribute `direction` must be LEFT or RIGHT, it is `{}`", direction);
}

void infer_shift(Infer& node) {
  is_left(node);
  infer_broadcast(node);
}

// By a negative amount, or by all bits and more, nothing is left but copies of the sign.
void eval_shift(Eval& node) {
  const bool left = is_left(node);
  const auto bits = static_cast<uint64_t>(tensor::bit_width(node.dtype(0)));
  elementwise_any(node, [=]<typename C>(C x, C amount) -> C {
    if constexpr (std::is_floating_point_v<C>) {
      return x;
    } else {
      const bool is_all = static_cast<uint64_t>(amount) >= bits;
      if (!left) return is_all ? static_cast<C>(x < C{0} ? -1 : 0) : static_cast<C>(x >> amount);
      return is_all ? C{0} : static_cast<C>(static_cast<uint64_t>(x) << amount);
    }
  });
}

}  // namespace

OperatorRows operator_math_bitwise() {
  static constexpr Traits kCommutativeExact = {Nature::elementwise,
                                               {.rounding = RoundingClass::exact, .is_commutative = true}};
  static constexpr Traits kExact = {Nature::elementwise, {.rounding = RoundingClass::exact}};
  static constexpr Operator kRows[] = {
      {.name = "BitwiseAnd", .traits = kCommutativeExact, .infer = infer_broadcast, .eval = eval_and},
      {.name = "BitwiseOr", .traits = kCommutativeExact, .infer = infer_broadcast, .eval = eval_or},
      {.name = "BitwiseXor", .traits = kCommutativeExact, .infer = infer_broadcast, .eval = eval_xor},
      {.name = "BitwiseNot", .traits = kExact, .infer = infer_same_as_first, .eval = eval_not},
      {.name = "BitShift", .traits = kExact, .infer = infer_shift, .eval = eval_shift},
  };
  return kRows;
}

}  // namespace assay::ops
