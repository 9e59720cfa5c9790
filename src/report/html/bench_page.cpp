#include "report/html/bench_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/html/simple_page.h"

namespace assay::report {
namespace {

constexpr size_t kBins = 60;
constexpr double kShownShare = 0.99;  // of the runs: the slowest ones would leave no room for the others

std::string milliseconds(double seconds) { return fmt::format("{:.6g}", seconds * 1e3); }

std::string interval_text(const std::optional<results::Interval>& interval) {
  return interval ? fmt::format("{:.6g} to {:.6g}", interval->low * 1e3, interval->high * 1e3) : "";
}

std::vector<std::string> row_of(std::string_view name, const results::Distribution& times) {
  std::vector<std::string> row = {std::string(name),          milliseconds(times.min),
                                  milliseconds(times.median), interval_text(times.median_interval),
                                  milliseconds(times.mean),   milliseconds(times.max)};
  for (const auto& [percent, seconds] : times.percentiles) row.push_back(milliseconds(seconds));
  row.push_back(fmt::format("{:.2f}", times.variation * 100));
  row.push_back(fmt::format("{}", times.outliers));
  return row;
}

std::vector<std::string> titles_of(const results::Distribution& times) {
  std::vector<std::string> titles = {"ms", "min", "median", "95% interval", "mean", "max"};
  for (const auto& [percent, seconds] : times.percentiles) titles.push_back(fmt::format("p{:g}", percent));
  titles.emplace_back("variation, %");
  titles.emplace_back("outliers");
  return titles;
}

std::vector<double> times_of(const results::BenchSide& side) {
  std::vector<double> seconds;
  for (const results::BenchSample& sample : side.samples) seconds.push_back(sample.compute_seconds);
  std::ranges::sort(seconds);
  return seconds;
}

// The edges of bins, in milliseconds, in which all sides are counted, so that their figures can be compared.
std::vector<double> common_edges(const results::Bench& bench) {
  double low = HUGE_VAL, high = 0;
  for (const results::BenchSide& side : bench.sides) {
    const std::vector<double> seconds = times_of(side);
    if (seconds.empty()) continue;
    low = std::min(low, seconds.front());
    high = std::max(high, seconds[static_cast<size_t>(kShownShare * static_cast<double>(seconds.size() - 1))]);
  }
  if (!(high > low)) high = 1.001 * low;
  std::vector<double> edges(kBins + 1);
  for (size_t i = 0; i <= kBins; ++i) {
    edges[i] = 1e3 * (low + (high - low) * static_cast<double>(i) / static_cast<double>(kBins));
  }
  return edges;
}

void add_distribution(SimplePage& page, const results::BenchSide& side, const std::vector<double>& edges) {
  results::Histogram histogram{edges, std::vector<uint64_t>(kBins)};
  uint64_t beyond = 0;
  for (const double seconds : times_of(side)) {
    const auto bin = std::ranges::upper_bound(edges, seconds * 1e3) - edges.begin() - 1;
    if (seconds * 1e3 > edges.back())
      ++beyond;
    else
      ++histogram.counts[std::clamp<size_t>(static_cast<size_t>(std::max<std::ptrdiff_t>(bin, 0)), 0, kBins - 1)];
  }
  page.histogram(histogram, fmt::format("{}: runs by milliseconds, on the axis of all backends; {} beyond it",
                                        side.title, beyond));
}

void add_layers(SimplePage& page, const results::LayerProfile& profile) {
  std::vector<std::vector<std::string>> rows;
  std::vector<double> shares;
  for (const results::LayerTimes& layer : profile.layers) {
    shares.push_back(layer.share);
    rows.push_back(
        {milliseconds(layer.median_seconds), fmt::format("{:.1f}", layer.share * 100), layer.layer, layer.op});
  }
  page.table({"ms", "%", "layer", "how"}, rows, shares);
}

void add_side(SimplePage& page, const results::BenchSide& side, const std::vector<double>& edges) {
  page.heading(side.title);
  if (!side.is_measured()) return page.paragraph(side.failure.empty() ? "not measured" : side.failure);
  page.paragraph(fmt::format("{} runs, {:.6g} in a second", side.samples.size(), side.throughput));
  page.table(titles_of(side.compute), {row_of("computing", side.compute), row_of("latency", side.latency)});
  add_distribution(page, side, edges);
  if (!side.profile.layers.empty()) add_layers(page, side.profile);
}

}  // namespace

std::string bench_page(const results::Bench& bench, const PageFacts& facts) {
  std::string inputs;
  for (const results::RunValue& input : bench.inputs) {
    inputs += fmt::format("{}{} {}", inputs.empty() ? "" : ", ", input.name, fmt::join(input.shape, "x"));
  }
  SimplePage page({.kind = "bench", .title = bench.model, .badge = {}}, facts,
                  fmt::format("{}; {} stream(s) of {} thread(s)", inputs, bench.streams, bench.threads));
  if (!bench.ratios.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const results::BenchRatio& ratio : bench.ratios) {
      const auto& interval = ratio.medians_interval;
      rows.push_back({ratio.backend, fmt::format("{:.3f}", ratio.of_medians),
                      interval ? fmt::format("{:.3f} to {:.3f}", interval->low, interval->high) : "",
                      fmt::format("{:.3f}", ratio.of_minima)});
    }
    page.heading("How much longer others take");
    page.table({"backend", "medians", "95% interval", "minima"}, rows);
  }
  const std::vector<double> edges = common_edges(bench);
  for (const results::BenchSide& side : bench.sides) add_side(page, side, edges);
  return page.take_text();
}

}  // namespace assay::report
