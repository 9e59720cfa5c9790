#include "debug/accuracy/range_causes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::debug {
namespace {

constexpr size_t kMostSteps = 256;  // of eight bits
constexpr size_t kLeastCount = 4 * kMostSteps;
constexpr double kCancelling = 100;
constexpr double kMostUnits = 1e3;

std::vector<double> distinct(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto rest = std::ranges::unique(numbers);
  numbers.erase(rest.begin(), rest.end());
  return numbers;
}

double rms(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double number : numbers) squares += number * number;
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(numbers.size(), 1)));
}

}  // namespace

std::optional<Cause> quantized(const std::vector<double>& given, const std::vector<double>& exact) {
  if (given.empty() || !std::ranges::all_of(given, [](double number) { return std::isfinite(number); }))
    return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax(given);
  uint64_t cut = 0;
  double furthest = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const bool is_beyond = (given[i] == greatest && exact[i] > greatest) || (given[i] == least && exact[i] < least);
    if (!is_beyond) continue;
    ++cut;
    furthest = std::abs(exact[i]) > std::abs(furthest) ? exact[i] : furthest;
  }
  const double reach = std::max(std::abs(least), std::abs(greatest));
  if (cut > 1 && least < greatest && std::abs(furthest) > 1.01 * reach) {
    return Cause{"clipped", fmt::format("{} element(s) are cut off at {:.4g} or {:.4g} and should go up to {:.4g}: a "
                                        "range or scale is too small",
                                        cut, least, greatest, furthest)};
  }
  const std::vector<double> steps = distinct(given);
  if (given.size() < kLeastCount || steps.size() > kMostSteps || distinct(exact).size() <= 2 * steps.size())
    return std::nullopt;
  return Cause{"calibration",
               fmt::format("there are {} different numbers, and the errors are as large as their steps: a "
                           "range or scale is too large",
                           steps.size())};
}

std::optional<Cause> cancellation(const ir::Model& model, const Accused& accused, double unit) {
  const auto magnitude = [&](ir::ValueId value) -> Datum {
    const auto found = std::ranges::find(accused.operands, value, &std::pair<ir::ValueId, Datum>::first);
    if (found == accused.operands.end()) return {};
    if (!is_numeric(found->second) || !tensor::is_floating(found->second.declared())) return found->second;
    std::vector<double> numbers = numbers_of(found->second);
    for (double& number : numbers) number = std::abs(number);
    return with_numbers(found->second, std::move(numbers));
  };
  const std::variant<std::vector<Datum>, Error> sums =
      attempt([&] { return LayerOracle(model).exact(accused.node, magnitude); });
  const std::vector<Datum>* const made = std::get_if<std::vector<Datum>>(&sums);
  if (made == nullptr || accused.result >= made->size() || !is_numeric((*made)[accused.result])) return std::nullopt;
  const double terms = rms(numbers_of((*made)[accused.result]));
  std::vector<double> off = numbers_of(accused.given);
  const std::vector<double> exact = numbers_of(accused.exact);
  for (size_t i = 0; i < off.size(); ++i) off[i] -= exact[i];
  if (!(rms(off) < kMostUnits * unit * terms) || terms < kCancelling * rms(exact)) return std::nullopt;
  return Cause{"cancellation", fmt::format("terms {:.2g} times as large as their sum cancel, and more is lost than the "
                                           "roundings of its type explain",
                                           terms / rms(exact))};
}

}  // namespace assay::debug
