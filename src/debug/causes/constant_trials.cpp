#include "debug/causes/constant_trials.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "debug/causes/fits.h"
#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::debug {
namespace {

constexpr size_t kMostDistinct = 4;   // numbers of a constant that are tried one by one
constexpr double kLeastBound = 1e-2;  // of the greatest number: less is nearly 0
constexpr size_t kMostPlaces = 8;     // elements of a list of whole numbers that are tried one by one

class ConstantTrials {
 public:
  ConstantTrials(const LayerTrial& trial, const Observation& seen, Explanations& found)
      : trial_(trial), seen_(seen), found_(found) {}

  void run() {
    std::set<ir::ValueId> known;
    for (const ir::Use& use : trial_.node().operands) {
      if (!use.value || !known.insert(use.value).second || !is_constant(trial_.model(), use.value)) continue;
      const Datum datum = trial_.operand(use.value);
      if (!is_numeric(datum) || datum.tensor().count() == 0) continue;
      if (tensor::is_floating(datum.declared())) {
        try_floats(use.value, datum);
      } else if (tensor::is_integer(datum.declared())) {
        try_integers(use.value, datum);
      }
    }
    try_shifted_slice();
  }

 private:
  std::string name_of(ir::ValueId value) const {
    return fmt::format("`{}`", printable(trial_.model().text(trial_.model()[value].name)));
  }

  void try_floats(ir::ValueId value, const Datum& datum) {
    const Numbers numbers = numbers_of(datum);
    std::set<double> distinct;
    for (size_t i = 0; i < numbers.size() && distinct.size() <= kMostDistinct; ++i) {
      if (!std::isnan(numbers[i])) distinct.insert(numbers[i]);
    }
    if (distinct.size() > kMostDistinct) {
      try_factor(value, datum, numbers);
      return try_bound(value, datum, numbers);
    }
    for (const double number : distinct) try_number(value, datum, numbers, number, distinct.size() == 1);
  }

  void try_number(ir::ValueId value, const Datum& datum, const Numbers& numbers, double number, bool is_only) {
    const auto fitted = fit(seen_, starts_around(number), [&](double other) {
      Numbers changed = numbers;
      std::ranges::replace(changed, number, other);
      return trial_.with_operand(value, with_numbers(datum, std::move(changed)));
    });
    if (!fitted) return;
    const std::string what = is_only ? fmt::format("its constant {}", name_of(value))
                                     : fmt::format("{:.6g} in its constant {}", number, name_of(value));
    found_.add(fmt::format("with {} = {:.6g}", what, fitted->parameter), fitted->candidate, true);
  }

  void try_factor(ir::ValueId value, const Datum& datum, const Numbers& numbers) {
    const auto fitted = fit(seen_, {1}, [&](double factor) {
      Numbers changed = numbers;
      for (double& number : changed) number *= factor;
      return trial_.with_operand(value, with_numbers(datum, std::move(changed)));
    });
    if (!fitted) return;
    found_.add(fitted->parameter == 0
                   ? fmt::format("with its constant {} = 0", name_of(value))
                   : fmt::format("with its constant {} {:.6g} times as large", name_of(value), fitted->parameter),
               fitted->candidate, true);
  }

  // Clipped at a number and its negative.
  void try_bound(ir::ValueId value, const Datum& datum, const Numbers& numbers) {
    double most = 0;
    for (const double number : numbers) most = std::max(most, std::abs(number));
    if (!std::isfinite(most)) return;
    const auto fitted = fit(seen_, {most / 4, most / 2, most * 3 / 4}, [&](double bound) -> std::optional<Numbers> {
      if (!(bound > kLeastBound * most) || bound > most) return std::nullopt;
      Numbers changed = numbers;
      for (double& number : changed) number = std::clamp(number, -bound, bound);
      return trial_.with_operand(value, with_numbers(datum, std::move(changed)));
    });
    if (!fitted) return;
    found_.add(fmt::format("with its constant {} clipped at +-{:.6g}", name_of(value), fitted->parameter),
               fitted->candidate, true);
  }

  void try_integers(ir::ValueId value, const Datum& datum) {
    const std::vector<int64_t> numbers = tensor::load_elements<int64_t>(datum.tensor());
    for (const int64_t by : {1, -1, 2, -2}) {
      std::vector<int64_t> all = numbers;
      for (int64_t& number : all) number += by;
      found_.add(shifted_text(value, numbers, by), trial_.with_operand(value, with_integers(datum, all)));
      if (numbers.size() < 2 || numbers.size() > kMostPlaces) continue;
      for (size_t place = 0; place < numbers.size(); ++place) {
        std::vector<int64_t> one = numbers;
        one[place] += by;
        found_.add(fmt::format("with element {} of its constant {} = {}", place, name_of(value), one[place]),
                   trial_.with_operand(value, with_integers(datum, one)));
      }
    }
  }

  std::string shifted_text(ir::ValueId value, const std::vector<int64_t>& numbers, int64_t by) const {
    if (numbers.size() == 1) return fmt::format("with its constant {} = {}", name_of(value), numbers[0] + by);
    return fmt::format("with its constant {} {} by {}", name_of(value), by > 0 ? "larger" : "smaller", std::abs(by));
  }

  // Both ends of a slice go together, since its result keeps its shape.
  void try_shifted_slice() {
    const ops::Traits& traits = ops::traits(trial_.model(), trial_.accused().node);
    const bool is_slice = traits.is(ops::Nature::movement) && traits.clamps_sizes;
    if (!is_slice || trial_.node().operands.size() < 3) return;
    const ir::ValueId starts = trial_.node().operands[1].value, ends = trial_.node().operands[2].value;
    const Datum first = trial_.operand(starts), last = trial_.operand(ends);
    if (starts == ends || !is_numeric(first) || !is_numeric(last)) return;
    for (const int64_t by : {1, -1}) {
      const Datum moved_first = shifted(first, by), moved_last = shifted(last, by);
      found_.add(fmt::format("with its starts and ends {} by {}", by > 0 ? "larger" : "smaller", std::abs(by)),
                 trial_.with([&](ir::ValueId wanted) {
                   return wanted == starts ? moved_first : wanted == ends ? moved_last : trial_.operand(wanted);
                 }));
    }
  }

  static Datum shifted(const Datum& datum, int64_t by) {
    std::vector<int64_t> numbers = tensor::load_elements<int64_t>(datum.tensor());
    for (int64_t& number : numbers) number += by;
    return with_integers(datum, numbers);
  }

  const LayerTrial& trial_;
  const Observation& seen_;
  Explanations& found_;
};

}  // namespace

void try_constants(const LayerTrial& trial, const Observation& seen, Explanations& found) {
  ConstantTrials(trial, seen, found).run();
}

void try_float(LayerTrial& trial, const Observation& seen, const std::pair<ir::Symbol, float>& attribute,
               Explanations& found) {
  const auto [name, value] = attribute;
  const auto fitted = fit(seen, starts_around(static_cast<double>(value)), [&](double other) {
    return trial.with_attributes({ir::Attribute::of(name, static_cast<float>(other))});
  });
  if (!fitted) return;
  found.add(fmt::format("with {}={:.6g}", trial.model().text(name), fitted->parameter), fitted->candidate, true);
}

}  // namespace assay::debug
