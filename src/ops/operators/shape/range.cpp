#include <cmath>

#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/known_elements.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr double kMostSteps = 0x1p62;

// The number of steps of `delta` between start and limit, the limit excluded.
int64_t step_count(double start, double limit, double delta) {
  const double steps = std::ceil((limit - start) / delta);
  if (std::isnan(steps) || steps >= kMostSteps) {
    fail(ErrorCode::shape, "the range from {} to {} by {} has no end", start, limit, delta);
  }
  return steps > 0 ? static_cast<int64_t>(steps) : 0;
}

template <typename C>
int64_t step_count(C start, C limit, C delta) {
  const bool is_up = delta > 0;
  if (is_up ? start >= limit : start <= limit) return 0;
  const uint64_t from = static_cast<uint64_t>(is_up ? start : limit);
  const uint64_t to = static_cast<uint64_t>(is_up ? limit : start);
  const uint64_t step = is_up ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
  const uint64_t count = (to - from - 1) / step + 1;
  if (count > INT64_MAX) fail(ErrorCode::shape, "the range from {} to {} by {} is too long", start, limit, delta);
  return static_cast<int64_t>(count);
}

// Dims of symbolic ranges: with a known step, and a length that is not negative.
Dim symbolic_length(const Infer& node) {
  const auto item = [&](uint32_t input) {
    const std::optional<Elements> known = node.elements(input);
    return known && known->items.size() == 1 ? known->items.front() : Dim();
  };
  const Dim delta = node.has(2) ? item(2) : Dim(1);
  if (!delta.is_number() || *delta.number() == INT64_MIN) return {};
  const Dim length = *delta.number() > 0 ? item(1) - item(0) : item(0) - item(1);
  return ceil_div(max(length, 0), std::abs(*delta.number()));
}

Dim range_length(const Infer& node) {
  const tensor::Tensor* bounds[3] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    bounds[i] = node.constant(i);
    if (!bounds[i] && (i < 2 || node.has(2))) return symbolic_length(node);
  }
  return with_carrier(bounds[0]->dtype(), [&](auto zero) -> Dim {
    using C = decltype(zero);
    return step_count(load_elements<C>(*bounds[0])[0], load_elements<C>(*bounds[1])[0],
                      bounds[2] ? load_elements<C>(*bounds[2])[0] : C{1});
  });
}

void infer_range(Infer& node) {
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    const bool is_one = !node.is_ranked(i) || node.rank(i) == 0 ||
                        (node.rank(i) == 1 && !node.dims(i)[0].is_number()) ||
                        (node.rank(i) == 1 && node.dims(i)[0].is(1));
    if (!is_one) fail(ErrorCode::shape, "input {} must be a scalar, its shape is {}", i, text(node.dims(i)));
  }
  if (node.number_of(2) == 0.0) fail(ErrorCode::shape, "the step must not be 0");
  const Dim length = range_length(node);
  node.set_dims(0, {length});
  const std::optional<Elements> start = node.elements(0);
  const std::optional<int64_t> delta = node.has(2) ? node.integer_of(2) : 1;
  if (!length.is_number() || *length.number() > int64_t{kMaxKnownElements} || !start || start->items.size() != 1 ||
      !delta)
    return;
  Elements elements{{*length.number()}, {}};
  for (int64_t i = 0; i < *length.number(); ++i) elements.items.push_back(start->items[0] + Dim(i) * Dim(*delta));
  node.set_elements(0, std::move(elements));
}

void eval_range(Eval& node) {
  with_carrier(node.dtype(0), [&](auto zero) {
    using C = decltype(zero);
    const C start = node.scalar<C>(0, 0);
    const C delta = node.scalar<C>(2, 1);  // com.microsoft's may be left out
    store_tiles<C>(node, [&](uint64_t begin, std::span<C> out) {
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = wrapping_add(start, wrapping_multiply(static_cast<C>(begin + i), delta));
      }
    });
  });
}

}  // namespace

OperatorRows operator_shape_range() {
  static constexpr Traits kContinuous = {Nature::generator,
                                         {.rounding = RoundingClass::continuous, .sizes = {0, 1, 2}}};
  static constexpr Operator kRows[] = {
      {.name = "Range", .since = 11, .traits = kContinuous, .infer = infer_range, .eval = eval_range},
      {.domain = kMicrosoft, .name = "Range", .traits = kContinuous, .infer = infer_range, .eval = eval_range},
  };
  return kRows;
}

}  // namespace assay::ops
