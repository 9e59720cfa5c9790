#include <array>

#include "convert/precision/bounds_rule.h"

namespace assay::convert {
namespace {

constexpr double kLargest = 65504;     // of float16
constexpr double kSmallest = 0x1p-24;  // of float16, above 0

double square(double number) { return number * number; }

Bounds within(const Bounds& bounds, double low, double high) {
  return {std::clamp(bounds.low, low, high), std::clamp(bounds.high, low, high), bounds.is_assumed, bounds.is_positive};
}

// Bounds that are too fine to be taken at their word say only that no element is 0.
Bounds coarse(Bounds bounds) {
  bounds.is_positive = bounds.is_positive || bounds.low > 0;
  if (bounds.low < kSmallest) bounds.low = std::min(bounds.low, 0.0);
  return bounds;
}

Bounds scaled(const Bounds& bounds, double factor) {
  return {std::min(bounds.low * factor, bounds.high * factor), std::max(bounds.low * factor, bounds.high * factor),
          bounds.is_assumed, bounds.is_positive};
}

Bounds symmetric(double magnitude, bool is_assumed) { return {-magnitude, magnitude, is_assumed, false}; }

Bounds squared(const Bounds& bounds) {
  return {square(bounds.least()), square(bounds.magnitude()), bounds.is_assumed, bounds.is_positive};
}

Bounds product(const Bounds& a, const Bounds& b) {
  const std::array ends = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::ranges::min_element(ends), *std::ranges::max_element(ends), a.is_assumed || b.is_assumed,
          a.is_positive && b.is_positive};
}

Bounds same(const BoundsRule& rule) { return rule.in(0); }
Bounds ordinary(const BoundsRule&) { return {}; }
Bounds share(const BoundsRule&) { return {0, 1, false, true}; }
Bounds fraction(const BoundsRule&) { return Bounds::known(0, 1); }
Bounds with_zero(const BoundsRule& rule) { return join(rule.in(0), Bounds::known(-2, 0)); }
Bounds relu(const BoundsRule& rule) { return within(rule.in(0), 0, HUGE_VAL); }
Bounds absolute(const BoundsRule& rule) {
  return {rule.in(0).least(), rule.in(0).magnitude(), rule.in(0).is_assumed, rule.in(0).is_positive};
}
Bounds negated(const BoundsRule& rule) { return scaled(rule.in(0), -1); }

Bounds chosen(const BoundsRule& rule) { return rule.hull(1); }

// A constant that is added so that a sum is not 0.
bool is_guard(const Bounds& bounds) { return !bounds.is_assumed && bounds.low > 0 && bounds.high < kSmallest; }

// Two ordinary values have an ordinary sum: what grows in a model is kept small by it.
Bounds sum_of(const Bounds& a, const Bounds& b) {
  if (a.is_assumed && b.is_assumed) return join(a, b);
  const bool is_positive = (a.is_positive && b.low >= 0) || (b.is_positive && a.low >= 0) || is_guard(a) || is_guard(b);
  return {a.low + b.low, a.high + b.high, a.is_assumed || b.is_assumed, is_positive};
}

Bounds sum(const BoundsRule& rule) {
  Bounds total = rule.in(0);
  for (size_t i = 1; i < rule.count(); ++i) total = sum_of(total, rule.in(i));
  return total;
}

Bounds difference(const BoundsRule& rule) {
  const Bounds a = rule.in(0);
  if (rule.has_source(1, "ReduceMax", 0)) {
    return {-2 * a.magnitude(), 0, true, false};
  }
  // A mask of integers, turned round.
  const bool is_mask = rule.single(0) == 1.0 && rule.source_op(1) == "Cast" && rule.in(1).is_assumed;
  return is_mask ? Bounds::known(0, 1) : sum_of(a, scaled(rule.in(1), -1));
}

Bounds multiplied(const BoundsRule& rule) {
  const Bounds a = rule.in(0);
  const Bounds b = rule.in(1);
  if (rule.is_same(0, 1)) return squared(a);
  const double most = std::max(a.magnitude(), b.magnitude());
  if (!a.is_assumed || !b.is_assumed) return product(a, b);
  if (most <= kLargest) return join(a, b);
  return rule.is_normalised() ? Bounds() : product(a, b);
}

Bounds inverse(const Bounds& bounds) {
  if (bounds.least() == 0) {
    if (bounds.is_positive) return {bounds.low < 0 ? -HUGE_VAL : 0, HUGE_VAL, true, true};
    return {};
  }
  const Bounds found = {1 / bounds.high, 1 / bounds.low, bounds.is_assumed, bounds.is_positive};
  return bounds.low > 0 ? coarse(found) : found;
}

Bounds quotient(const BoundsRule& rule) {
  const Bounds a = rule.in(0);
  const Bounds b = rule.in(1);
  if (rule.has_source(1, "ReduceSum", 0) && a.low >= 0) {
    return {0, 1, false, a.is_positive};
  }
  if (b.is_assumed && rule.is_normalised()) return {a.low >= 0 ? 0 : -Bounds::kOrdinary};
  const bool is_bounded = b.least() > 0 || b.is_positive;
  if (is_bounded) return product(a, inverse(b));
  return a.magnitude() > kLargest && b.magnitude() <= kLargest ? a : Bounds();
}

Bounds reciprocal(const BoundsRule& rule) { return inverse(rule.in(0)); }

Bounds root(const BoundsRule& rule) {
  const Bounds a = rule.in(0);
  return {std::sqrt(std::max(a.low, 0.0)), std::sqrt(std::max(a.high, 0.0)), a.is_assumed, a.is_positive};
}

// The largest of what a softmax is made of is 1: its sum is no small number.
Bounds exponential(const BoundsRule& rule) {
  const Bounds a = rule.in(0);
  const bool has_one = a.high == 0 && a.is_assumed;
  Bounds found = coarse({std::exp(a.low), std::exp(a.high), a.is_assumed, !has_one});
  found.is_positive = !has_one;
  return found;
}

Bounds logarithm(const BoundsRule& rule) {
  constexpr double kLeast = -104;  // of float32's denormals
  constexpr double kMost = 89;
  const Bounds a = rule.in(0);
  const double low = a.low > 0 ? std::max(kLeast, std::log(a.low)) : kLeast;
  return {low, a.high > 0 ? std::clamp(std::log(a.high), low, kMost) : kMost, a.is_assumed, false};
}

Bounds power_of(const Bounds& a, double exponent) {
  if (exponent < 0) return inverse(power_of(a, -exponent));
  const double most = std::pow(a.magnitude(), exponent);
  const bool is_even = std::fmod(exponent, 2) == 0;
  if (a.low < 0 && !is_even && std::nearbyint(exponent) == exponent) return symmetric(most, a.is_assumed);
  return {std::pow(a.least(), exponent), most, a.is_assumed, a.is_positive};
}

Bounds power(const BoundsRule& rule) {
  const std::optional<double> exponent = rule.single(1);
  if (exponent) return power_of(rule.in(0), *exponent);
  const double most = std::pow(std::max(rule.in(0).magnitude(), 1.0), rule.in(1).magnitude());
  return {rule.in(0).low < 0 ? -most : 0, most, true, false};
}

Bounds clip(const BoundsRule& rule) {
  const auto bound = [&](size_t operand, std::string_view name, bool is_low) {
    if (rule.has(operand)) return is_low ? rule.in(operand).low : rule.in(operand).high;
    return rule.attribute(name).value_or(is_low ? -HUGE_VAL : HUGE_VAL);
  };
  const double low = bound(1, "min", true);
  const double high = std::max(low, bound(2, "max", false));
  Bounds found = within(rule.in(0), low, high);
  found.is_positive = found.is_positive || low > 0;
  if (low > -kLargest && high < kLargest) found.is_assumed = false;
  return found;
}

Bounds greatest(const BoundsRule& rule) {
  Bounds found = rule.in(0);
  for (size_t i = 1; i < rule.count(); ++i) {
    const Bounds other = rule.in(i);
    found = {std::max(found.low, other.low), std::max(found.high, other.high), found.is_assumed || other.is_assumed,
             found.is_positive || other.is_positive};
  }
  return found;
}

Bounds least(const BoundsRule& rule) {
  Bounds found = rule.in(0);
  for (size_t i = 1; i < rule.count(); ++i) {
    const Bounds other = rule.in(i);
    found = {std::min(found.low, other.low), std::min(found.high, other.high), found.is_assumed || other.is_assumed,
             found.is_positive && other.is_positive};
  }
  return found;
}

Bounds reduced_sum(const BoundsRule& rule) {
  const Bounds a = rule.in(0);
  const double count = rule.reduced();
  return {a.low > 0 ? a.low : a.low * count, a.high > 0 ? a.high * count : a.high, a.is_assumed, a.is_positive};
}

Bounds sum_of_magnitudes(const BoundsRule& rule) {
  return {0, rule.in(0).magnitude() * rule.reduced(), rule.in(0).is_assumed, rule.in(0).is_positive};
}
Bounds sum_of_squares(const BoundsRule& rule) {
  return {0, square(rule.in(0).magnitude()) * rule.reduced(), rule.in(0).is_assumed, rule.in(0).is_positive};
}
Bounds length(const BoundsRule& rule) {
  return {0, rule.in(0).magnitude() * std::sqrt(rule.reduced()), rule.in(0).is_assumed, rule.in(0).is_positive};
}
Bounds reduced_product(const BoundsRule& rule) {
  const double magnitude = rule.in(0).magnitude();
  return symmetric(magnitude <= 1 ? 1 : std::pow(magnitude, rule.reduced()), rule.in(0).is_assumed);
}

Bounds cast(const BoundsRule& rule) {
  return rule.has(0) && rule.is_float(0) ? rule.in(0) : rule.integers_bounds().value_or(Bounds());
}

Bounds padded(const BoundsRule& rule) { return join(join(rule.in(0), rule.in(2)), Bounds::known(0, 0)); }

Bounds filled(const BoundsRule& rule) {
  const double number = rule.attribute("value").value_or(0);
  return Bounds::known(number, number);
}

// A layer of a network makes ordinary numbers of what it takes, unless its weights are out of the ordinary.
Bounds layer(const BoundsRule& rule) {
  if (!rule.is_constant(0) && !rule.is_constant(1)) return join(rule.hull(), {});
  const double most = rule.weight_gain() * Bounds::kOrdinary;
  return most > kLargest ? symmetric(most, true) : Bounds();
}

struct Row {
  std::string_view op;
  Bounds (*rule)(const BoundsRule& rule);
};

constexpr std::array kRows = std::to_array<Row>({
    {"Abs", absolute},
    {"Add", sum},
    {"Attention", ordinary},
    {"AveragePool", same},
    {"BiasGelu", ordinary},
    {"Ceil", same},
    {"Clip", clip},
    {"ConstantOfShape", filled},
    {"Conv", layer},
    {"ConvTranspose", layer},
    {"Div", quotient},
    {"Exp", exponential},
    {"EyeLike", fraction},
    {"Floor", same},
    {"FusedMatMul", layer},
    {"Gemm", layer},
    {"LeakyRelu", with_zero},
    {"Log", logarithm},
    {"MatMul", layer},
    {"Max", greatest},
    {"Min", least},
    {"Mul", multiplied},
    {"MultiHeadAttention", ordinary},
    {"Neg", negated},
    {"Pad", padded},
    {"Pow", power},
    {"Reciprocal", reciprocal},
    {"ReduceL1", sum_of_magnitudes},
    {"ReduceL2", length},
    {"ReduceProd", reduced_product},
    {"ReduceSum", reduced_sum},
    {"ReduceSumSquare", sum_of_squares},
    {"Relu", relu},
    {"Resize", same},
    {"Round", same},
    {"Sigmoid", share},
    {"Softmax", share},
    {"Sqrt", root},
    {"Sub", difference},
    {"Sum", sum},
    {"Where", chosen},
});

// Bounds for an operator without a row of its own: its operands may come out of it, if nothing else is known.
Bounds bounds_of_kind(const BoundsRule& rule, const ops::Traits& traits) {
  if (traits.is(ops::Nature::conversion)) return cast(rule);
  switch (traits.range) {
    case ops::ValueRange::first:
      return same(rule);
    case ops::ValueRange::first_or_zero:
      return join(same(rule), Bounds::known(0, 0));
    case ops::ValueRange::all:
      return rule.hull();
    case ops::ValueRange::part_of_one:
      return fraction(rule);
    case ops::ValueRange::around_zero:
      return Bounds::known(-1, 1);
    default:
      return traits.is(ops::Nature::normalization) ? ordinary(rule) : join(rule.hull(), {});
  }
}

}  // namespace

Bounds BoundsRule::apply(std::string_view op, const ops::Traits& traits) const {
  const auto* row = std::ranges::find(kRows, op, &Row::op);
  return row != kRows.end() ? row->rule(*this) : bounds_of_kind(*this, traits);
}

}  // namespace assay::convert
