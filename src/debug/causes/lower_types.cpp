#include "debug/causes/lower_types.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/samples.h"
#include "base/text.h"

namespace assay::debug {
namespace {

constexpr double kAlike = 0.95;      // correlation of errors
constexpr double kMostLonger = 1.3;  // length of the one beside the other
constexpr uint64_t kLeastCount = 8;  // of wrong elements
constexpr double kNearlyBest = 0.98;
constexpr double kMostSquares = 16;  // of errors, times those where only inputs and result are rounded

struct Type {
  std::string_view name;
  int bits;       // of the fraction
  double most;    // beyond: infinite
  double normal;  // below: fewer bits
};

constexpr std::array kTypes = {
    Type{"float16", 10, 65504, 0x1p-14},
    Type{"TF32", 10, 3.4028234663852886e38, 0x1p-126},
    Type{"bfloat16", 7, 3.3895313892515355e38, 0x1p-126},
};

double rounded(double number, const Type& type) {
  if (number == 0 || !std::isfinite(number)) return number;
  const int exponent = std::max(std::ilogb(number), std::ilogb(type.normal));
  const double step = std::ldexp(1, exponent - type.bits);
  const double near = std::nearbyint(number / step) * step;
  return std::abs(near) > type.most ? std::copysign(INFINITY, near) : near;
}

Numbers rounded(Numbers numbers, const Type& type) {
  for (double& number : numbers) number = rounded(number, type);
  return numbers;
}

bool are_numbers_of(const Numbers& numbers, const Type& type) {
  return std::ranges::all_of(numbers,
                             [&](double number) { return !std::isfinite(number) || rounded(number, type) == number; });
}

double square_error(const Numbers& numbers, const Numbers& exact) {
  double sum = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double by = numbers[i] - exact[i];
    sum += std::isfinite(by) ? by * by : 0;
  }
  return sum;
}

// The correlation of two errors, of similar size; 0 otherwise.
double likeness(const Observation& seen, const Numbers& candidate) {
  double both = 0, ours = 0, theirs = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < candidate.size(); ++i) {
    const double off = seen.given()[i] - seen.exact()[i], would = candidate[i] - seen.exact()[i];
    if (!std::isfinite(off) || !std::isfinite(would)) continue;
    // Weighed by what an element may be off, so that large elements do not stand for all.
    const double weight = 1 / std::max(seen.allowed(i), 1e-300);
    both += off * would * weight * weight;
    ours += off * off * weight * weight;
    theirs += would * would * weight * weight;
    count += seen.is_wrong(i) ? 1 : 0;
  }
  if (count < std::min<uint64_t>(kLeastCount, candidate.size()) || count < 2 || ours == 0 || theirs == 0) return 0;
  const double longer = std::sqrt(std::max(ours / theirs, theirs / ours));
  return longer > kMostLonger ? 0 : both / std::sqrt(ours * theirs);
}

class LowerTypes {
 public:
  LowerTypes(const LayerTrial& trial, const Observation& seen) : trial_(trial), seen_(seen) {}

  std::string find() {
    for (const Type& type : kTypes) {
      if (std::ldexp(1, -type.bits - 1) > seen_.unit()) try_type(type);
    }
    std::vector<std::string> texts;
    for (const auto& [text, alike] : found_) {
      if (alike >= kNearlyBest * best_) texts.push_back(text);
    }
    return texts.empty() ? only_type_ : texts.size() > 2 ? texts.front() : join(texts, ", or ");
  }

 private:
  enum class Inputs { all, factors, constants };

  void try_type(const Type& type) {
    const std::optional<Numbers> of_inputs = with_rounded(type, Inputs::all);
    take(fmt::format("its result is rounded to {}", type.name), rounded(seen_.exact(), type));
    take(fmt::format("its constants are rounded to {}", type.name), with_rounded(type, Inputs::constants));
    if (trial_.node().operands.size() > 2)  // a bias is added in full
      take(fmt::format("its first two inputs are rounded to {}", type.name), with_rounded(type, Inputs::factors));
    take(fmt::format("its inputs are rounded to {}", type.name), of_inputs);
    if (!of_inputs) return;
    const Numbers of_all = rounded(*of_inputs, type);
    take(fmt::format("its inputs and result are rounded to {}", type.name), of_all);
    // Sums in the type cannot be repeated, since their order is not known.
    const bool is_small =
        square_error(seen_.given(), seen_.exact()) <= kMostSquares * square_error(of_all, seen_.exact());
    const bool is_enough = seen_.wrong_count() >= kLeastCount && is_small;
    if (only_type_.empty() && is_enough && are_numbers_of(seen_.given(), type) && !are_numbers_of(seen_.exact(), type))
      only_type_ = fmt::format("all are numbers of {}, and as far off as if it were computed in that type", type.name);
  }

  std::optional<Numbers> with_rounded(const Type& type, Inputs which) const {
    const std::span<const ir::Use> uses = trial_.node().operands;
    return trial_.with([&](ir::ValueId value) -> Datum {
      const Datum datum = trial_.operand(value);
      const bool is_float = is_numeric(datum) && tensor::is_floating(datum.declared());
      const bool is_factor = uses[0].value == value || (uses.size() > 1 && uses[1].value == value);
      const bool is_meant = which == Inputs::all || (which == Inputs::factors && is_factor) ||
                            (which == Inputs::constants && is_constant(trial_.model(), value));
      return is_float && is_meant ? with_numbers(datum, rounded(numbers_of(datum), type)) : datum;
    });
  }

  void take(std::string text, const std::optional<Numbers>& candidate) {
    if (!candidate) return;
    const double alike = likeness(seen_, *candidate);
    if (alike < kAlike) return;
    found_.emplace_back(std::move(text), alike);
    best_ = std::max(best_, alike);
  }

  const LayerTrial& trial_;
  const Observation& seen_;
  std::vector<std::pair<std::string, double>> found_;
  std::string only_type_;
  double best_ = 0;
};

}  // namespace

bool is_off_alike(const Observation& seen, const Numbers& candidate) { return likeness(seen, candidate) >= kAlike; }

std::string matching_type(const LayerTrial& trial, const Observation& seen) {
  return seen.is_whole() ? std::string() : LowerTypes(trial, seen).find();
}

}  // namespace assay::debug
