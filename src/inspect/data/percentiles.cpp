#include "inspect/data/percentiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/elements.h"

namespace assay::inspect {

std::vector<std::pair<double, double>> percentiles(const tensor::Tensor& tensor, const std::vector<double>& percents) {
  std::vector<std::pair<double, double>> found;
  if (percents.empty()) return found;
  std::vector<double> sorted = tensor::load_elements<double>(tensor);
  const bool has_nan = std::ranges::any_of(sorted, [](double x) { return std::isnan(x); });
  if (!has_nan) std::ranges::sort(sorted);
  for (const double percent : percents) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!has_nan && !sorted.empty()) {
      const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
      const auto below = static_cast<size_t>(place);
      const double part = place - static_cast<double>(below);
      value = sorted[below];
      if (part > 0) value += part * (sorted[below + 1] - value);
    }
    found.emplace_back(percent, value);
  }
  return found;
}

}  // namespace assay::inspect
