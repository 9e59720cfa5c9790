#include "debug/causes/ranges.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/kernels/quantization/numeric_limits.h"

namespace assay::debug {
namespace {

constexpr size_t kMostSteps = 256;  // of eight bits
constexpr size_t kLeastOnSteps = 16;
constexpr double kOnStep = 1e-3;  // of a step
constexpr uint64_t kLeastCut = 4;

std::optional<Cause> overflow(const CauseCase& given, const Observation& seen) {
  uint64_t infinities = 0;
  double worst = 0;
  for (size_t i = 0; i < seen.given().size(); ++i) {
    if (!std::isinf(seen.given()[i]) || !std::isfinite(seen.exact()[i])) continue;
    ++infinities;
    worst = std::max(worst, std::abs(seen.exact()[i]));
  }
  if (infinities == 0) return std::nullopt;
  std::string reason = fmt::format("{} element(s) are infinite and should be up to {:.4g}", infinities, worst);
  const double most = ops::highest_of<double>(given.stored);
  if (tensor::is_floating(given.stored) && worst > most)
    reason += fmt::format("; {} holds at most {:.5g}", tensor::name(given.stored), most);
  return Cause{"overflow", std::move(reason)};
}

// The layer is right, and what it was given is not.
std::optional<Cause> input_range(const Accused& accused, const Observation& seen) {
  if (!accused.is_out_of_range) return std::nullopt;
  const Numbers truth = numbers_of(accused.truth);
  uint64_t count = 0;
  double right = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (std::isfinite(seen.given()[i]) || !std::isfinite(truth[i])) continue;
    if (count++ == 0) right = truth[i];
  }
  return Cause{"input_range",
               fmt::format("an input has left the range where the operator gives numbers: {} element(s) are "
                           "infinite or NaN, where the truth is {:.4g}",
                           count, right)};
}

std::optional<Cause> underflow(const CauseCase& given) {
  if (!given.accused.is_type_at_fault) return std::nullopt;
  return Cause{"underflow", fmt::format("numbers so near 0 have few bits, or none, in {}", tensor::name(given.stored))};
}

std::optional<Cause> birth_of_nan(const Observation& seen) {
  uint64_t nans = 0, of_model = 0;
  for (size_t i = 0; i < seen.given().size(); ++i) {
    nans += std::isnan(seen.given()[i]) && !std::isnan(seen.exact()[i]) ? 1 : 0;
    of_model += std::isnan(seen.exact()[i]) && !std::isnan(seen.given()[i]) ? 1 : 0;
  }
  if (nans > 0) return Cause{"nan", fmt::format("{} element(s) are NaN and should be numbers", nans)};
  if (of_model > 0) return Cause{"nan", fmt::format("{} element(s) should be NaN and are numbers", of_model)};
  return std::nullopt;
}

// Infinity is asked for, and a large number given.
std::optional<Cause> finite(const Observation& seen) {
  uint64_t count = 0;
  double greatest = 0;
  for (size_t i = 0; i < seen.given().size(); ++i) {
    if (!std::isinf(seen.exact()[i]) || !std::isfinite(seen.given()[i])) continue;
    ++count;
    greatest = std::abs(seen.given()[i]) > std::abs(greatest) ? seen.given()[i] : greatest;
  }
  if (count == 0) return std::nullopt;
  return Cause{"finite",
               fmt::format("{} element(s) are finite, up to {:.4g}, and should be infinite", count, greatest)};
}

Numbers distinct(Numbers numbers) {
  std::ranges::sort(numbers);
  const auto rest = std::ranges::unique(numbers);
  numbers.erase(rest.begin(), rest.end());
  return numbers;
}

// The number of different exact numbers that lie beyond a bound that is given in their place.
uint64_t beyond(const Observation& seen, double bound, bool is_upper) {
  Numbers cut;
  for (size_t i = 0; i < seen.given().size(); ++i) {
    const double over = is_upper ? seen.exact()[i] - bound : bound - seen.exact()[i];
    if (seen.given()[i] == bound && over > 0 && seen.is_wrong(i)) cut.push_back(seen.exact()[i]);
  }
  return distinct(std::move(cut)).size();
}

}  // namespace

std::optional<Cause> out_of_range(const CauseCase& given, const Observation& seen) {
  if (std::optional<Cause> found = overflow(given, seen)) return found;
  if (std::optional<Cause> found = input_range(given.accused, seen)) return found;
  if (std::optional<Cause> found = underflow(given)) return found;
  if (std::optional<Cause> found = birth_of_nan(seen)) return found;
  return finite(seen);
}

std::optional<Cause> clipped(const Observation& seen) {
  if (seen.is_whole() || seen.given().empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(seen.given());
  const uint64_t below = beyond(seen, least, false), above = beyond(seen, most, true);
  if (!(least < most) || below + above < kLeastCut) return std::nullopt;
  const double low = below > 0 ? least : -INFINITY, high = above > 0 ? most : INFINITY;
  Numbers candidate = seen.exact();
  for (double& number : candidate) number = std::clamp(number, low, high);
  if (!seen.is_explained_by(candidate)) return std::nullopt;
  const std::string where = below > 0 && above > 0 ? fmt::format("{:.4g} and {:.4g}", least, most)
                            : below > 0            ? fmt::format("{:.4g}", least)
                                                   : fmt::format("{:.4g}", most);
  const auto [lowest, highest] = std::ranges::minmax(seen.exact());
  return Cause{"clipped", fmt::format("{} element(s) are cut off at {}, and should go from {:.4g} to {:.4g}",
                                      seen.wrong_count(), where, lowest, highest)};
}

std::optional<Cause> on_steps(const Observation& seen) {
  const Numbers numbers = distinct(seen.given());
  if (seen.is_whole() || seen.given().size() < kLeastOnSteps || numbers.size() < 3 || numbers.size() > kMostSteps)
    return std::nullopt;
  if (distinct(seen.exact()).size() <= numbers.size() || !std::isfinite(numbers.front() + numbers.back()))
    return std::nullopt;
  double step = INFINITY;
  for (size_t i = 1; i < numbers.size(); ++i) step = std::min(step, numbers[i] - numbers[i - 1]);
  for (const double number : numbers) {
    const double steps = (number - numbers.front()) / step;
    if (std::abs(steps - std::nearbyint(steps)) > kOnStep * std::max(1.0, steps / kMostSteps)) return std::nullopt;
  }
  for (size_t i = 0; i < seen.given().size(); ++i) {
    const bool is_cut = seen.given()[i] == numbers.front() || seen.given()[i] == numbers.back();
    if (!is_cut && !(std::abs(seen.given()[i] - seen.exact()[i]) <= 0.5 * step * (1 + kOnStep) + seen.allowed(i)))
      return std::nullopt;
  }
  return Cause{"quantized",
               fmt::format("all are multiples of {:.4g}, of which {} occur: they are rounded to the steps of "
                           "a quantizer",
                           step, numbers.size())};
}

}  // namespace assay::debug
