#include "compare/measuring/exact_difference.h"

#include <algorithm>
#include <limits>

#include "compare/measuring/tile_kernels.h"
#include "tensor/casts.h"

namespace assay::compare {
namespace {

// An integer of 65 bits.
struct Integer {
  uint64_t bits;
  bool negative;
};

void load_integers(const tensor::Tensor& tensor, uint64_t first, std::span<Integer> out) {
  if (tensor::kind(tensor.dtype()) == tensor::DTypeKind::signed_integer) {
    int64_t elements[kTile];
    tensor::load(tensor.dtype(), tensor.bytes(), first, std::span(elements).first(out.size()));
    for (size_t i = 0; i < out.size(); ++i) out[i] = {static_cast<uint64_t>(elements[i]), elements[i] < 0};
  } else {
    uint64_t elements[kTile];
    tensor::load(tensor.dtype(), tensor.bytes(), first, std::span(elements).first(out.size()));
    for (size_t i = 0; i < out.size(); ++i) out[i] = {elements[i], false};
  }
}

struct Difference {
  uint64_t low;
  bool beyond;  // plus 2^64
};

Difference difference(const Integer& x, const Integer& y) {
  if (x.negative == y.negative) return {x.bits > y.bits ? x.bits - y.bits : y.bits - x.bits, false};
  const Integer& positive = x.negative ? y : x;
  const Integer& negative = x.negative ? x : y;
  const uint64_t low = positive.bits - negative.bits;
  return {low, low < positive.bits};
}

// Rounded once: bits that a double of this size has no room for are joined into one sticky bit.
double to_double(const Difference& x) {
  if (!x.beyond) return static_cast<double>(x.low);
  const uint64_t sticky = x.low & 1;
  return 2 * static_cast<double>((x.low >> 1 | uint64_t{1} << 63) | sticky);
}

template <typename Fn>
void for_each_difference(const tensor::Tensor& a, const tensor::Tensor& b, std::pair<uint64_t, uint64_t> range, Fn fn) {
  Integer x[kTile], y[kTile];
  const auto [first, count] = range;
  load_integers(a, first, std::span(x).first(count));
  load_integers(b, first, std::span(y).first(count));
  for (size_t i = 0; i < count; ++i) fn(i, difference(x[i], y[i]));
}

}  // namespace

void exact_difference(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t first, std::span<double> out) {
  for_each_difference(a, b, {first, out.size()}, [&](size_t i, const Difference& x) { out[i] = to_double(x); });
}

uint64_t max_exact_difference(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t first, uint64_t count) {
  uint64_t most = 0;
  for_each_difference(a, b, {first, count}, [&](size_t, const Difference& x) {
    most = std::max(most, x.beyond ? std::numeric_limits<uint64_t>::max() : x.low);
  });
  return most;
}

}  // namespace assay::compare
