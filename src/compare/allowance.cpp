#include "compare/allowance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/parallel.h"
#include "tensor/casts.h"
#include "tensor/index.h"

namespace assay::compare {
namespace {

constexpr uint64_t kTile = 4096;

double share_of(double difference, double allowed) {
  if (difference == 0) return 0;
  if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  if (std::isinf(allowed)) return 0;
  return allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity();
}

template <typename C>
double distance(C a, C b, const Allowance& allowance) {
  if constexpr (std::is_floating_point_v<C>) {
    return allowance.distance(a, b);
  } else {
    return a > b ? static_cast<double>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b))
                 : static_cast<double>(static_cast<uint64_t>(b) - static_cast<uint64_t>(a));
  }
}

template <typename C>
Overruns examine_numbers(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance) {
  const auto examine_piece = [&](uint64_t begin, uint64_t end) {
    std::vector<C> left(end - begin);
    std::vector<C> right(end - begin);
    tensor::load(a.dtype(), a.bytes(), begin, std::span<C>(left));
    tensor::load(b.dtype(), b.bytes(), begin, std::span<C>(right));
    Overruns found;
    for (uint64_t i = begin; i < end; ++i) {
      found.add(i, distance(left[i - begin], right[i - begin], allowance), allowance);
    }
    return found;
  };
  return parallel_reduce(a.count(), kTile, Overruns(), examine_piece, joined);
}

Overruns examine(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance) {
  const bool is_floating = tensor::is_floating(a.dtype()) || tensor::is_floating(b.dtype());
  if (is_floating) return examine_numbers<double>(a, b, allowance);
  const bool is_signed = tensor::kind(a.dtype()) == tensor::DTypeKind::signed_integer;
  return is_signed ? examine_numbers<int64_t>(a, b, allowance) : examine_numbers<uint64_t>(a, b, allowance);
}

}  // namespace

double Allowance::distance(double a, double b) const {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::fabs(std::clamp(a, -edge, edge) - std::clamp(b, -edge, edge));
}

void Overruns::add(uint64_t index, double difference, const Allowance& allowance) {
  const double allowed{allowance.of_elements[index]};
  const double share = share_of(difference, allowed);
  if (std::isfinite(difference) && !std::isinf(allowed)) squares += difference * difference;
  if (share > worst.share) worst = {share, difference, allowed, index};
  if (share <= 1) return;
  ++count;
  far += difference <= allowance.furthest ? 0 : 1;
  first = std::min(first, index);
}

Overruns joined(const Overruns& a, const Overruns& b) {
  return {a.count + b.count, a.far + b.far, std::min(a.first, b.first),
          b.worst.share > a.worst.share ? b.worst : a.worst, a.squares + b.squares};
}

results::Judgement judge_allowed(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance,
                                 results::PairMetrics& metrics) {
  ASSAY_CHECK(allowance.of_elements.size() == a.count() && a.count() == b.count());
  const Overruns found = examine(a, b, allowance);
  results::Judgement judgement;
  judgement.function = "simple";
  judgement.statistic = "elemwise";
  judgement.atol = found.worst.allowed;
  judgement.required_abs = found.worst.difference;
  judgement.required_rel = metrics.relative.greatest;
  metrics.failed_count = found.count;
  metrics.first_failed_at.reset();
  if (found.count != 0) metrics.first_failed_at = tensor::index_of(found.first, a.shape());
  judgement.passed = found.are_allowed(allowance);
  if (!judgement.passed) {
    const std::vector<int64_t> index = tensor::index_of(found.worst.index, a.shape());
    judgement.notes.push_back(fmt::format("At ({}) the difference is {:.3g}; allowed is {:.3g}", fmt::join(index, ", "),
                                          found.worst.difference, found.worst.allowed));
  }
  if (a.count() == 0) return judgement;
  judgement.allowed_share = static_cast<double>(allowance.may_be_beyond) / static_cast<double>(a.count());
  const double rms = std::sqrt(found.squares / static_cast<double>(a.count()));
  if (rms <= allowance.rms) return judgement;
  judgement.passed = false;
  judgement.notes.push_back(fmt::format(
      "The root mean square of all differences is {:.3g}; correct computations stay below {:.3g}", rms, allowance.rms));
  return judgement;
}

}  // namespace assay::compare
