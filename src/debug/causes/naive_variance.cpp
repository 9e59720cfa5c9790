#include "debug/causes/naive_variance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ir/written.h"

namespace assay::debug {
namespace {

constexpr double kCancelling = 100;  // of the mean of squares beside the variance
constexpr double kUnits = 64;        // roundoffs of the mean of squares by which the variance is off
constexpr double kLoose = 1e-3;      // of the greatest element, by which a factor may miss one
constexpr size_t kLeastGroup = 4;

// The number of neighbours that are normalized together; 0 if it is not known.
size_t group_size(const LayerTrial& trial, const tensor::Shape& shape) {
  const auto product_from = [&](size_t first) {
    size_t product = 1;
    for (size_t axis = first; axis < shape.size(); ++axis) product *= static_cast<size_t>(shape[axis]);
    return product;
  };
  const auto integer = [&](std::string_view name, int64_t standard) {
    return ir::written_integer(trial.model(), trial.node(), name).value_or(standard);
  };
  if (shape.size() < 2) return 0;
  if (trial.op() == "InstanceNormalization") return product_from(2);
  if (trial.op() == "GroupNormalization") {
    const int64_t groups = integer("num_groups", 1);
    return groups > 0 && shape[1] % groups == 0 ? product_from(1) / static_cast<size_t>(groups) : 0;
  }
  if (trial.op() != "LayerNormalization") return 0;
  const int64_t axis = integer("axis", -1);
  return product_from(static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis));
}

double epsilon_of(const LayerTrial& trial) {
  return ir::written_float(trial.model(), trial.node(), "epsilon").value_or(1e-5F);
}

// A group of neighbours: what is given is `factor` times what is exact, both without the bias.
struct Group {
  double factor = 1;
  bool is_scaled = false;
};

Group group_at(const Observation& seen, const Numbers& bias, size_t begin, size_t size) {
  double both = 0, squares = 0, greatest = 0;
  for (size_t i = begin; i < begin + size; i += 2) {
    both += (seen.given()[i] - bias[i]) * (seen.exact()[i] - bias[i]);
    squares += (seen.exact()[i] - bias[i]) * (seen.exact()[i] - bias[i]);
  }
  Group group{.factor = both / squares};
  for (size_t i = begin; i < begin + size; ++i) greatest = std::max(greatest, std::abs(seen.given()[i] - bias[i]));
  // The mean may be off by its rounding, so that all of a group are moved.
  double moved = 0;
  for (size_t i = begin; i < begin + size; ++i)
    moved += (seen.given()[i] - bias[i] - group.factor * (seen.exact()[i] - bias[i])) / static_cast<double>(size);
  group.is_scaled = true;
  for (size_t i = begin; i < begin + size; ++i) {
    const double left = seen.given()[i] - bias[i] - group.factor * (seen.exact()[i] - bias[i]) - moved;
    group.is_scaled = group.is_scaled && std::abs(left) <= kLoose * greatest + seen.allowed(i);
  }
  return group;
}

}  // namespace

std::optional<Cause> naive_variance(const LayerTrial& trial, const Observation& seen) {
  const size_t size = group_size(trial, seen.shape());
  const Datum input = trial.operand_at(0), scale = trial.operand_at(1);
  if (size < kLeastGroup || !is_numeric(input) || !is_numeric(scale)) return std::nullopt;
  const Numbers numbers = numbers_of(input);
  const std::optional<Numbers> bias =
      trial.with_operand(trial.node().operands[1].value, with_numbers(scale, Numbers(scale.tensor().count(), 0.0)));
  if (!bias || numbers.size() != seen.given().size()) return std::nullopt;
  const double epsilon = epsilon_of(trial);
  double worst = 0;
  for (size_t begin = 0; begin + size <= numbers.size(); begin += size) {
    const Group group = group_at(seen, *bias, begin, size);
    double mean = 0, squares = 0, variance = 0;
    for (size_t i = begin; i < begin + size; ++i) mean += numbers[i] / static_cast<double>(size);
    for (size_t i = begin; i < begin + size; ++i) {
      squares += numbers[i] * numbers[i] / static_cast<double>(size);
      variance += (numbers[i] - mean) * (numbers[i] - mean) / static_cast<double>(size);
    }
    const double had = (variance + epsilon) / (group.factor * group.factor) - epsilon;
    const bool is_lost = std::abs(had - variance) <= kUnits * std::ldexp(1, -24) * squares;
    if (!group.is_scaled || !is_lost) return std::nullopt;
    worst = std::max(worst, squares / std::max(variance, 1e-300));
  }
  if (worst < kCancelling) return std::nullopt;
  return Cause{"cancellation",
               fmt::format("each group is off by one factor: the variance is computed in float32 as the "
                           "mean of squares less the square of the mean, which is {:.2g} times as large",
                           worst)};
}

}  // namespace assay::debug
