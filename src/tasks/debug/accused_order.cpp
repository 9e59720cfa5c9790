#include "tasks/debug/accused_order.h"

#include <algorithm>
#include <cmath>

#include "analysis/samples.h"
#include "convert/precision/half_kernels.h"
#include "debug/accuracy/distances.h"
#include "debug/accuracy/layer_judge.h"

namespace assay::tasks {
namespace {

constexpr double kNear = 64;  // roundoffs of the type, of an element and of the root of the mean square
constexpr double kAsFar = 4;  // times the other side's error: more is a fault of its own

bool is_of(const results::LayerVerdict& layer, const std::string& side, const results::LayerVerdict& like) {
  return layer.side == side && layer.index == like.index && layer.value == like.value && layer.excess > 1;
}

double greatest_of(tensor::DType type) {
  const bool is_half = type == tensor::DType::float16 || type == tensor::DType::bfloat16;
  return is_half ? convert::largest_half(type) : INFINITY;
}

bool shows_infinity(const debug::Accused& accused) {
  return std::ranges::any_of(accused.operands, [](const auto& operand) {
    return debug::is_numeric(operand.second) && !debug::are_finite(operand.second);
  });
}

std::vector<results::LayerVerdict> errors_of(std::span<const debug::Accused> accused) {
  std::vector<results::LayerVerdict> errors;
  for (const debug::Accused& one : accused) errors.push_back(one.error);
  return errors;
}

}  // namespace

TypeFault type_fault(const debug::Accused& accused, tensor::DType stored) {
  const tensor::Shape& shape = accused.exact.tensor().shape();
  if (!debug::is_numeric(accused.truth) || !tensor::is_floating(accused.exact.declared())) return TypeFault::none;
  if (accused.given.tensor().shape() != shape || accused.truth.tensor().shape() != shape) return TypeFault::none;
  const std::vector<double> given = debug::numbers_of(accused.given), exact = debug::numbers_of(accused.exact),
                            truth = debug::numbers_of(accused.truth);
  const double unit = kNear * std::max(analysis::roundoff(stored), analysis::roundoff(accused.exact.declared()));
  const double rms = debug::rms_of_finite(truth), most = greatest_of(stored);
  const bool is_behind = shows_infinity(accused);
  uint64_t beyond = 0, followed = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto is_near = [&](double number) {
      return std::isfinite(number) && std::abs(given[i] - number) <= unit * (std::abs(number) + rms);
    };
    if (given[i] == exact[i] || is_near(exact[i])) continue;
    const bool is_beyond = std::isinf(given[i]) && (std::abs(exact[i]) > most || std::abs(truth[i]) > most);
    if (!is_beyond && !(is_behind && is_near(truth[i]))) return TypeFault::none;
    ++(is_beyond ? beyond : followed);
  }
  return beyond > 0 ? TypeFault::overflows : followed > 0 ? TypeFault::follows : TypeFault::none;
}

bool deviates_in_both(const debug::Accused& accused, std::span<const results::LayerVerdict> layers,
                      const ModelSides& sides) {
  const auto find = [&](const std::string& side) {
    return std::ranges::find_if(layers, [&](const auto& layer) { return is_of(layer, side, accused.error); });
  };
  const auto first = find(sides.first), second = find(sides.second);
  if (first == layers.end() || second == layers.end()) return false;
  return std::isinf(first->introduced) || !(second->introduced > kAsFar * first->introduced);
}

size_t order_accused(std::vector<debug::Accused>& accused, std::span<const results::LayerVerdict> layers,
                     const ModelSides& sides) {
  const auto is_in_both = [&](const debug::Accused& one) { return deviates_in_both(one, layers, sides); };
  const std::vector<results::LayerVerdict> all = errors_of(accused);
  std::erase_if(accused, [&](const debug::Accused& one) {
    const auto is_told = [&](const results::LayerVerdict& other) { return is_of(other, sides.first, one.error); };
    return one.error.side == sides.second && is_in_both(one) && std::ranges::any_of(all, is_told);
  });
  const auto own = std::ranges::stable_partition(accused, [&](const auto& one) { return !is_in_both(one); });
  std::ranges::stable_partition(accused.begin(), own.begin(),
                                [&](const auto& one) { return one.error.side == sides.second; });
  return own.size();
}

}  // namespace assay::tasks
