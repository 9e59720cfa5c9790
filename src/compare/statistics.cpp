#include "compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "tensor/elements.h"
#include "tensor/index.h"

namespace assay::compare {
namespace {

constexpr uint64_t kPiece = 1 << 16;

struct Sums {
  double sum = 0;
  double magnitude = 0;
  uint64_t nans = 0;
  uint64_t infinities = 0;
};

Sums add(Sums a, const Sums& b) {
  return {a.sum + b.sum, a.magnitude + b.magnitude, a.nans + b.nans, a.infinities + b.infinities};
}

double median_of(std::vector<double>& elements) {
  const size_t half = elements.size() / 2;
  std::ranges::nth_element(elements, elements.begin() + static_cast<ptrdiff_t>(half));
  if (elements.size() % 2 == 1) return elements[half];
  const double below = *std::max_element(elements.begin(), elements.begin() + static_cast<ptrdiff_t>(half));
  return (below + elements[half]) / 2;
}

// What a NaN among the elements leaves: numpy's functions return it, and its place.
void spread_nan(const std::vector<double>& elements, const tensor::Shape& shape, results::TensorStats& stats) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  stats.mean = stats.variance = stats.median = stats.least = stats.greatest = stats.mean_magnitude = nan;
  const auto first = std::ranges::find_if(elements, [](double x) { return std::isnan(x); });
  if (first == elements.end()) return;
  stats.least_at = stats.greatest_at = tensor::index_of(static_cast<uint64_t>(first - elements.begin()), shape);
}

}  // namespace

results::TensorStats statistics(const tensor::Tensor& tensor) {
  std::vector<double> elements = tensor::load_elements<double>(tensor);
  results::TensorStats stats;
  stats.count = elements.size();
  const auto sum_piece = [&](uint64_t begin, uint64_t end) {
    Sums sums;
    for (uint64_t i = begin; i < end; ++i) {
      const double x = elements[i];
      sums = add(sums, {x, std::fabs(x), std::isnan(x) ? 1U : 0U, std::isinf(x) ? 1U : 0U});
    }
    return sums;
  };
  const Sums sums = parallel_reduce(elements.size(), kPiece, Sums(), sum_piece, add);
  stats.nan_count = sums.nans;
  stats.inf_count = sums.infinities;
  if (elements.empty() || sums.nans != 0) {
    spread_nan(elements, tensor.shape(), stats);
    return stats;
  }
  const auto count = static_cast<double>(elements.size());
  stats.mean = sums.sum / count;
  stats.mean_magnitude = sums.magnitude / count;
  const auto square_piece = [&](uint64_t begin, uint64_t end) {
    double squares = 0;
    for (uint64_t i = begin; i < end; ++i) squares += (elements[i] - stats.mean) * (elements[i] - stats.mean);
    return squares;
  };
  stats.variance =
      parallel_reduce(elements.size(), kPiece, 0.0, square_piece, [](double a, double b) { return a + b; }) / count;
  const auto [least, greatest] = std::pair(std::ranges::min_element(elements), std::ranges::max_element(elements));
  stats.least = *least;
  stats.greatest = *greatest;
  stats.least_at = tensor::index_of(static_cast<uint64_t>(least - elements.begin()), tensor.shape());
  stats.greatest_at = tensor::index_of(static_cast<uint64_t>(greatest - elements.begin()), tensor.shape());
  stats.median = median_of(elements);
  return stats;
}

}  // namespace assay::compare
