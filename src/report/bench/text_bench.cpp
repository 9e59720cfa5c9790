#include "report/bench/text_bench.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "tensor/array_text.h"

namespace assay::report {
namespace {

constexpr double kNoisy = 0.1;  // coefficient of variation

double ms(double seconds) { return seconds * 1e3; }

std::string distribution_line(std::string_view name, const results::Distribution& times) {
  std::string line = fmt::format("{}: min = {:.6g} ms, max = {:.6g} ms, mean = {:.6g} ms, median = {:.6g} ms", name,
                                 ms(times.min), ms(times.max), ms(times.mean), ms(times.median));
  for (const auto& [p, value] : times.percentiles) line += fmt::format(", percentile({:g}%) = {:.6g} ms", p, ms(value));
  return line;
}

std::string interval_text(const std::optional<results::Interval>& interval, double scale, std::string_view unit) {
  if (!interval) return "too few runs for an interval";
  return fmt::format("95% interval {:.4g} to {:.4g}{}", interval->low * scale, interval->high * scale, unit);
}

struct Averages {
  double latency = 0;
  double compute = 0;
};

std::string trace_line(std::span<const results::BenchSample> samples) {
  Averages sums;
  for (const results::BenchSample& sample : samples) {
    sums.latency += sample.latency_seconds;
    sums.compute += sample.compute_seconds;
  }
  const auto count = static_cast<double>(samples.size());
  return fmt::format("Average on {} runs - compute: {:.6g} ms - host latency: {:.6g} ms", samples.size(),
                     ms(sums.compute / count), ms(sums.latency / count));
}

size_t widest_name(const results::Bench& bench) {
  size_t width = 7;
  for (const results::BenchSide& side : bench.sides) width = std::max(width, side.backend.size());
  return width;
}

}  // namespace

std::vector<std::string> trace_lines(const results::BenchSide& side, uint64_t runs, size_t most_at_each_end) {
  std::vector<std::string> lines;
  const std::span<const results::BenchSample> all(side.samples);
  const size_t groups = all.size() / runs;
  for (size_t i = 0; i < groups; ++i) {
    const bool is_shown = i < most_at_each_end || i + most_at_each_end >= groups;
    if (is_shown) lines.push_back(trace_line(all.subspan(i * runs, runs)));
    if (!is_shown && i == most_at_each_end) lines.push_back(fmt::format("... {} more", groups - 2 * most_at_each_end));
  }
  return lines;
}

std::vector<std::string> summary_lines(const results::BenchSide& side, std::string_view compute) {
  const results::Distribution& times = side.compute;
  std::vector<std::string> lines = {
      fmt::format("Timing trace has {} queries over {:.6g} s", side.samples.size(), side.wall_seconds),
      fmt::format("Throughput: {:.6g} qps", side.throughput), distribution_line("Latency", side.latency)};
  if (side.upload) lines.push_back(distribution_line("H2D Latency", *side.upload));
  lines.push_back(distribution_line(compute, times));
  if (side.download) lines.push_back(distribution_line("D2H Latency", *side.download));
  lines.push_back(fmt::format("Total Host Walltime: {:.6g} s", side.wall_seconds));
  lines.push_back(fmt::format("Total {}: {:.6g} s", compute, times.mean * static_cast<double>(times.count)));
  lines.push_back(fmt::format("Computing: median {:.6g} ms, {}; coefficient of variation {:.3g}%, {} outlier(s)",
                              ms(times.median), interval_text(times.median_interval, 1e3, " ms"), times.variation * 100,
                              times.outliers));
  return lines;
}

std::vector<std::string> doubt_lines(const results::BenchSide& side) {
  std::vector<std::string> lines;
  const results::Distribution& times = side.compute;
  if (times.has_drift) {
    lines.push_back(fmt::format("{}: the later runs were {:.1f}% {} than the earlier ones: the machine was not steady",
                                side.backend, 100 * std::abs(times.drift), times.drift > 0 ? "slower" : "faster"));
  }
  if (times.variation > kNoisy) {
    lines.push_back(fmt::format("{}: the times vary by {:.0f}% of their mean: minima and medians say more than means",
                                side.backend, 100 * times.variation));
  }
  if (!times.median_interval) lines.push_back(side.backend + ": too few runs for an interval");
  if (side.is_cut) {
    lines.push_back(
        fmt::format("{}: measuring ended after {} runs, as many as are kept", side.backend, side.samples.size()));
  }
  return lines;
}

std::vector<std::string> profile_lines(const results::LayerProfile& profile) {
  std::vector<std::string> lines = {fmt::format("=== Profile ({} iterations ) ===", profile.runs),
                                    "    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer"};
  double total = 0;
  for (const results::LayerTimes& layer : profile.layers) {
    total += layer.total_seconds;
    lines.push_back(fmt::format("{:12.4f} {:12.6f} {:12.6f} {:9.1f}   {}", ms(layer.total_seconds),
                                ms(layer.mean_seconds), ms(layer.median_seconds), layer.share * 100,
                                printable(layer.layer)));
  }
  const double mean = profile.runs > 0 ? total / static_cast<double>(profile.runs) : 0;
  lines.push_back(fmt::format("{:12.4f} {:12.6f} {:>12} {:9.1f}   Total", ms(total), ms(mean), "", 100.0));
  return lines;
}

std::vector<std::string> output_lines(const tensor::NamedData& outputs) {
  std::vector<std::string> lines;
  for (const tensor::NamedDatum& output : outputs) {
    const std::string name = printable(output.name);
    if (!output.value.is_tensor()) {
      lines.push_back(name + ": no tensor");
      continue;
    }
    const tensor::Tensor& tensor = output.value.tensor();
    lines.push_back(fmt::format("{}: ({})", name, fmt::join(tensor.shape(), "x")));
    lines.push_back(tensor::array_text(tensor));
  }
  return lines;
}

std::vector<std::string> loss_lines(const results::Bench& bench) {
  std::vector<std::string> lines;
  for (const results::ReferenceLoss& loss : bench.losses) {
    const std::string seen = loss.fault.empty() ? fmt::format("{} {:g}, at most {:g} is allowed", bench.loss_function,
                                                              loss.loss, bench.loss_threshold)
                                                : loss.fault;
    lines.push_back(fmt::format("Reference {}: output `{}` {} ({})", loss.pair, printable(loss.output),
                                loss.passed ? "passed" : "FAILED", seen));
  }
  return lines;
}

std::vector<std::string> load_lines(const results::Bench& bench) {
  std::vector<std::string> lines;
  for (const results::LoadTimes& times : bench.loads) {
    const double mean = times.others.mean;
    std::string interval;
    if (times.others.mean_interval) {
      interval = fmt::format(" ({:.4f} to {:.4f})", times.others.mean_interval->low * 1e3,
                             times.others.mean_interval->high * 1e3);
    }
    lines.push_back(fmt::format("Average time to {}: {:.4f} ms{} of {} times, the first {:.4f} ms; {}, {:.3g} GB/s",
                                times.work, mean * 1e3, interval, times.others.count, times.first_seconds * 1e3,
                                human_bytes(times.bytes),
                                mean > 0 ? static_cast<double>(times.bytes) / mean * 1e-9 : 0.0));
  }
  return lines;
}

std::vector<std::string> comparison_lines(const results::Bench& bench) {
  const size_t width = widest_name(bench);
  std::vector<std::string> lines = {fmt::format("{:<{}}  {:>10} {:>10} {:>10} {:>10} {:>8}  (computing, ms)", "backend",
                                                width, "min", "median", "mean", "max", "runs")};
  for (const results::BenchSide& side : bench.sides) {
    const results::Distribution& times = side.compute;
    lines.push_back(side.is_measured()
                        ? fmt::format("{:<{}}  {:10.4f} {:10.4f} {:10.4f} {:10.4f} {:8}", side.backend, width,
                                      ms(times.min), ms(times.median), ms(times.mean), ms(times.max), times.count)
                        : fmt::format("{:<{}}  not measured", side.backend, width));
  }
  for (const results::BenchRatio& ratio : bench.ratios) {
    lines.push_back(fmt::format("{} / {}: {:.3f}x by minima ({}), {:.3f}x by medians ({})", ratio.backend,
                                bench.sides[0].backend, ratio.of_minima, interval_text(ratio.minima_interval, 1, ""),
                                ratio.of_medians, interval_text(ratio.medians_interval, 1, "")));
  }
  return lines;
}

}  // namespace assay::report
