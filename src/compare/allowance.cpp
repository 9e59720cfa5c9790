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

// How far an element is beyond what is allowed: 1 at the bound.
struct Excess {
  double share = 0;
  double difference = 0;
  double allowed = 0;
  uint64_t index = 0;
};

struct Found {
  uint64_t count = 0;
  uint64_t far = 0;  // of these, further than any may be
  uint64_t first = std::numeric_limits<uint64_t>::max();
  Excess worst;
  double squares = 0;
};

Found combined(const Found& a, const Found& b) {
  return {a.count + b.count, a.far + b.far, std::min(a.first, b.first),
          b.worst.share > a.worst.share ? b.worst : a.worst, a.squares + b.squares};
}

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
Found examine_numbers(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance) {
  const std::vector<float>& allowed = allowance.of_elements;
  const auto examine_piece = [&](uint64_t begin, uint64_t end) {
    std::vector<C> left(end - begin);
    std::vector<C> right(end - begin);
    tensor::load(a.dtype(), a.bytes(), begin, std::span<C>(left));
    tensor::load(b.dtype(), b.bytes(), begin, std::span<C>(right));
    Found found;
    for (uint64_t i = begin; i < end; ++i) {
      const double difference = distance(left[i - begin], right[i - begin], allowance);
      const double share = share_of(difference, double{allowed[i]});
      if (std::isfinite(difference) && !std::isinf(allowed[i])) found.squares += difference * difference;
      if (share > found.worst.share) found.worst = {share, difference, double{allowed[i]}, i};
      if (share <= 1) continue;
      ++found.count;
      found.far += difference <= allowance.furthest ? 0 : 1;
      found.first = std::min(found.first, i);
    }
    return found;
  };
  return parallel_reduce(a.count(), kTile, Found(), examine_piece, combined);
}

Found examine(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance) {
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

results::Judgement judge_allowed(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance,
                                 results::PairMetrics& metrics) {
  ASSAY_CHECK(allowance.of_elements.size() == a.count() && a.count() == b.count());
  const Found found = examine(a, b, allowance);
  results::Judgement judgement;
  judgement.function = "simple";
  judgement.statistic = "elemwise";
  judgement.atol = found.worst.allowed;
  judgement.required_abs = metrics.absolute.greatest;
  judgement.required_rel = metrics.relative.greatest;
  metrics.failed_count = found.count;
  metrics.first_failed_at.reset();
  if (found.count != 0) metrics.first_failed_at = tensor::index_of(found.first, a.shape());
  judgement.passed = found.count <= allowance.may_be_beyond && found.far == 0;
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
