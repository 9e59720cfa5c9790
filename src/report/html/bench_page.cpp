#include "report/html/bench_page.h"

#include <algorithm>

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

void add_distribution(SimplePage& page, const results::BenchSide& side) {
  std::vector<double> seconds;
  for (const results::BenchSample& sample : side.samples) seconds.push_back(sample.compute_seconds);
  std::ranges::sort(seconds);
  const double low = seconds.front();
  const double high = seconds[static_cast<size_t>(kShownShare * static_cast<double>(seconds.size() - 1))];
  std::vector<double> bins(kBins);
  for (const double value : seconds) {
    if (value > high) break;
    const double place = high > low ? (value - low) / (high - low) * static_cast<double>(kBins - 1) : 0;
    ++bins[static_cast<size_t>(place)];
  }
  page.bars(bins, milliseconds(low) + " ms", fmt::format("{} ms, the 99th percentile", milliseconds(high)));
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

void add_side(SimplePage& page, const results::BenchSide& side) {
  page.heading(side.title);
  if (!side.is_measured()) return page.paragraph(side.failure.empty() ? "not measured" : side.failure);
  page.paragraph(fmt::format("{} runs, {:.6g} in a second", side.samples.size(), side.throughput));
  page.table(titles_of(side.compute), {row_of("computing", side.compute), row_of("latency", side.latency)});
  add_distribution(page, side);
  if (!side.profile.layers.empty()) add_layers(page, side.profile);
}

}  // namespace

std::string bench_page(const results::Bench& bench) {
  std::string inputs;
  for (const results::RunValue& input : bench.inputs) {
    inputs += fmt::format("{}{} {}", inputs.empty() ? "" : ", ", input.name, fmt::join(input.shape, "x"));
  }
  SimplePage page("Times of " + bench.model,
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
  for (const results::BenchSide& side : bench.sides) add_side(page, side);
  return page.take_text();
}

}  // namespace assay::report
