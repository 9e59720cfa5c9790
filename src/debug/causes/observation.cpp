#include "debug/causes/observation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "debug/accuracy/distances.h"

namespace assay::debug {
namespace {

constexpr double kEnough = 12;       // bits
constexpr double kEnoughOfRest = 9;  // of a fit, whose other half speaks for it too
constexpr double kMostOfOne = 20;    // bits that one element can say
constexpr uint64_t kLeastRest = 3;   // wrong elements that a fit has to explain and was not made of
constexpr double kUnits = 16;        // of an element that a candidate may be off
constexpr double kUnitsOfAll = 2;    // of the root of the mean square
constexpr double kSlips = 0.02;      // of whole numbers, the share that may fall to the other side of a rounding
constexpr double kAsGood = 0.8;      // of the best candidate's bits
constexpr size_t kMostTold = 6;
constexpr double kGolden = 0.6180339887498949;

}  // namespace

Observation::Observation(const Accused& accused)
    : given_(numbers_of(accused.given)),
      exact_(numbers_of(accused.exact)),
      may_(accused.allowance.of_elements),
      is_wrong_(given_.size()),
      is_fitted_(given_.size()),
      shape_(accused.exact.tensor().shape()),
      unit_(std::max(analysis::roundoff(accused.exact.declared()), 1e-12)),
      rms_(rms_of_finite(given_)),
      is_whole_(!tensor::is_floating(accused.exact.declared())),
      is_boolean_(accused.exact.declared() == tensor::DType::boolean) {
  if (may_.size() != given_.size()) may_.assign(given_.size(), 0.0F);
  std::vector<uint64_t> seen(2);  // right and wrong ones so far: every other one is for fits, in no regular order
  for (size_t i = 0; i < given_.size() && given_.size() == exact_.size(); ++i) {
    const bool is_near = std::abs(given_[i] - exact_[i]) <= allowed(i);
    is_wrong_[i] = !is_same(given_[i], exact_[i]) && !is_near;
    const double turn = static_cast<double>(seen[is_wrong_[i]]++) * kGolden;
    is_fitted_[i] = turn - std::floor(turn) < 0.5;
  }
  wrong_count_ = seen[1];
}

double Observation::allowed(size_t i) const {
  if (is_whole_) return static_cast<double>(may_[i]);
  const double size = std::isfinite(given_[i]) ? std::abs(given_[i]) : 0;
  return static_cast<double>(may_[i]) + unit_ * (kUnits * size + kUnitsOfAll * rms_);
}

// Negative: the element contradicts the candidate.
double Observation::bits(size_t i, double candidate, uint64_t& slips) const {
  const bool counts = is_wrong_[i] && !std::isinf(may_[i]);
  if (is_same(given_[i], candidate)) {
    const double gap = std::abs(given_[i] - exact_[i]);
    if (!counts) return 0;
    if (is_boolean_) return 1;
    if (!std::isfinite(gap)) return 2;
    return is_whole_ ? std::log2(2 * gap + 1) : std::log2(gap / allowed(i));
  }
  const double left = std::abs(given_[i] - candidate);
  if (is_whole_ && !is_boolean_ && left == 1) ++slips;
  if (is_whole_ && !is_boolean_ && left == 1) return 0;
  if (!(left <= allowed(i))) return -1;
  return counts ? std::log2(std::abs(given_[i] - exact_[i]) / std::max(left, allowed(i) / 4)) : 0;
}

std::optional<double> Observation::evidence(const Numbers& candidate, Part part) const {
  if (candidate.size() != given_.size()) return std::nullopt;
  double sum = 0;
  uint64_t slips = 0;
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!is_in(part, i)) continue;
    const double of_one = bits(i, candidate[i], slips);
    if (of_one < 0) return std::nullopt;
    sum += std::min(of_one, kMostOfOne);
  }
  if (static_cast<double>(slips) > std::max(1.0, kSlips * static_cast<double>(given_.size()))) return std::nullopt;
  return sum;
}

bool Observation::is_explained_by(const Numbers& candidate) const { return evidence(candidate).value_or(0) >= kEnough; }

bool Observation::is_explained_by_fit(const Numbers& candidate) const {
  uint64_t rest = 0;
  for (size_t i = 0; i < given_.size(); ++i) rest += is_wrong_[i] && !is_fitted_[i] ? 1 : 0;
  return rest >= kLeastRest && evidence(candidate) && evidence(candidate, Part::rest).value_or(0) >= kEnoughOfRest;
}

bool Explanations::add(std::string text, const std::optional<Numbers>& candidate, bool is_fitted) {
  if (!candidate) return false;
  const bool fits = is_fitted ? seen_.is_explained_by_fit(*candidate) : seen_.is_explained_by(*candidate);
  if (fits) found_.push_back({std::move(text), seen_.evidence(*candidate).value_or(0)});
  return fits;
}

std::string Explanations::told() const {
  double most = 0;
  for (const Explanation& found : found_) most = std::max(most, found.bits);
  std::vector<std::string> texts;
  for (const Explanation& found : found_) {
    if (found.bits >= kAsGood * most) texts.push_back(found.text);
  }
  if (texts.size() > kMostTold) {
    const size_t more = texts.size() - kMostTold;
    texts.resize(kMostTold);
    texts.push_back(fmt::format("in {} more ways", more));
  }
  return join(texts, " or ");
}

}  // namespace assay::debug
