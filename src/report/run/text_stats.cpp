#include "report/run/text_stats.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace assay::report {
namespace {

// The peer's line for an array without elements.
constexpr std::string_view kEmpty = "mean=nan, std-dev=0, var=0, median=0, min=0 at 0, max=0 at 0, avg-magnitude=nan";
constexpr std::string_view kEmptyPercentiles = ", p90=inf, p95=inf, p99=inf";
constexpr uint64_t kBarLength = 40;

// Five significant digits; NaN has no sign.
std::string number(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.5g}", value); }

size_t widest(const std::vector<std::string>& edges) {
  return std::ranges::max_element(edges, {}, &std::string::size)->size();
}

}  // namespace

std::string tuple_text(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ", ") + fmt::format("{}", number);
  return "(" + text + (numbers.size() == 1 ? ",)" : ")");
}

std::string stats_text(const results::TensorStats& stats, bool is_boolean) {
  if (stats.count == 0) return fmt::format("{}{}", kEmpty, is_boolean ? "" : kEmptyPercentiles);
  const std::optional<results::Percentiles>& sorted = stats.percentiles;
  std::string text = fmt::format("mean={}, std-dev={}, var={}, ", number(stats.mean), number(stats.standard_deviation),
                                 number(stats.variance));
  if (sorted) text += fmt::format("median={}, ", number(sorted->median));
  text += fmt::format("min={} at {}, max={} at {}, avg-magnitude={}", number(stats.least), tuple_text(stats.least_at),
                      number(stats.greatest), tuple_text(stats.greatest_at), number(stats.mean_magnitude));
  if (sorted && !is_boolean) {
    text += fmt::format(", p90={}, p95={}, p99={}", number(sorted->p90), number(sorted->p95), number(sorted->p99));
  }
  return text;
}

std::string histogram_text(const results::Histogram& histogram) {
  const size_t count = histogram.counts.size();
  if (count == 0 || histogram.edges.size() != count + 1) return {};
  std::vector<std::string> lower, upper;
  for (size_t i = 0; i < count; ++i) {
    lower.push_back(fmt::format("{:.3g}", histogram.edges[i]));
    upper.push_back(fmt::format("{:.3g}", histogram.edges[i + 1]));
  }
  const size_t width = widest(lower), upper_width = widest(upper);
  const uint64_t most = std::max<uint64_t>(*std::ranges::max_element(histogram.counts), 1);
  std::string text = fmt::format("{:<{}}|  Num Elems | Visualization", "Bin Range", width + upper_width + 5);
  for (size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(histogram.counts[i]) / static_cast<double>(most);
    const std::string bar(static_cast<size_t>(share * kBarLength), '#');
    text += fmt::format("\n({:<{}}, {:<{}}) | {:10} | {}", lower[i], width, upper[i], upper_width, histogram.counts[i],
                        bar);
  }
  return text;
}

}  // namespace assay::report
