#include "debug/causes/rounding_trials.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ops/traits.h"

namespace assay::debug {
namespace {

struct Way {
  std::string_view text;
  double (*round)(double);
};

constexpr std::array kWays = {
    Way{"rounding halves to even", [](double number) { return std::nearbyint(number); }},
    Way{"rounding halves away from 0", [](double number) { return std::round(number); }},
    Way{"rounding halves up", [](double number) { return std::floor(number + 0.5); }},
    Way{"rounding down", [](double number) { return std::floor(number); }},
    Way{"rounding up", [](double number) { return std::ceil(number); }},
    Way{"cutting off digits", [](double number) { return std::trunc(number); }},
};

const ops::Traits& traits_of(const LayerTrial& trial) { return ops::traits(trial.model(), trial.accused().node); }

// The numbers that the operator rounds; nullopt for other operators.
std::optional<Numbers> unrounded(const LayerTrial& trial) {
  const Datum input = trial.operand_at(0);
  if (!is_numeric(input) || !tensor::is_floating(input.declared())) return std::nullopt;
  Numbers numbers = numbers_of(input);
  const ops::Traits& traits = traits_of(trial);
  const bool casts = traits.is_cast() && tensor::is_integer(trial.accused().exact.declared());
  const bool steps = traits.rounding == ops::RoundingClass::stepped && trial.node().operands.size() == 1;
  if (casts || steps) return numbers;
  const Datum scale = trial.operand_at(1);
  if (!traits.encodes() || !is_numeric(scale) || scale.tensor().count() != 1) return std::nullopt;
  const auto by = static_cast<float>(numbers_of(scale)[0]);
  for (double& number : numbers) number = static_cast<double>(static_cast<float>(number) / by);
  return numbers;
}

}  // namespace

void try_roundings(const LayerTrial& trial, Explanations& found) {
  const std::optional<Numbers> numbers = unrounded(trial);
  if (!numbers) return;
  const bool encodes = traits_of(trial).encodes();
  const Datum point = encodes ? trial.operand_at(2) : Datum();
  const double zero = is_numeric(point) && point.tensor().count() == 1 ? numbers_of(point)[0] : 0;
  double least = INFINITY, most = -INFINITY;  // the ends at which a quantizer cuts off
  if (encodes) {
    for (const double number : numbers_of(trial.accused().exact)) {
      least = std::min(least, number);
      most = std::max(most, number);
    }
  }
  for (const Way& way : kWays) {
    Numbers made = *numbers;
    for (double& number : made) {
      number = way.round(number) + zero;
      if (least < most) number = std::clamp(number, least, most);
    }
    found.add(std::string(way.text), made);
  }
}

}  // namespace assay::debug
