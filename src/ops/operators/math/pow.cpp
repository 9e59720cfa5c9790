#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/limited_broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// By squaring; wraps where it overflows.
uint64_t power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

// The exact power truncated towards zero: of negative exponents only 1 and -1 leave something. 0 to a negative power
// is 0, as a division by zero is.
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent >= 0) return static_cast<int64_t>(power(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
  if (base == 1) return 1;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  return 0;
}

void eval_integers(Eval& node) {
  const Shape shape = node.out_shape(0);
  const BroadcastReader base(node.tensor_in(0), shape);
  const BroadcastReader exponent(node.tensor_in(1), shape);
  const bool is_unsigned = tensor::kind(node.dtype(1)) == tensor::DTypeKind::unsigned_integer;
  store_tiles<int64_t>(node, [&](uint64_t begin, std::span<int64_t> out) {
    std::array<int64_t, kTile> powers;
    base.read(begin, out);
    exponent.read(begin, std::span(powers).first(out.size()));
    for (size_t i = 0; i < out.size(); ++i) {
      const auto whole = static_cast<uint64_t>(powers[i]);
      out[i] = is_unsigned ? static_cast<int64_t>(power(static_cast<uint64_t>(out[i]), whole))
                           : integer_power(out[i], powers[i]);
    }
  });
}

// The result has the type of the base; a fraction is cut off where that is an integer.
void eval_pow(Eval& node) {
  if (tensor::is_integer(node.dtype(0)) && tensor::is_integer(node.dtype(1))) return eval_integers(node);
  elementwise<double>(node, [](double x, double y) { return std::pow(x, y); });
}

}  // namespace

OperatorRows operator_math_pow() {
  static constexpr Operator kRows[] = {
      {.name = "Pow", .traits = {Nature::elementwise}, .infer = infer_limited_broadcast, .eval = limited<eval_pow>},
      {.name = "Pow", .since = 7, .traits = {Nature::elementwise}, .infer = infer_broadcast, .eval = eval_pow},
  };
  return kRows;
}

}  // namespace assay::ops
