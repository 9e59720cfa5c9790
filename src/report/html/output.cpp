#include "report/html/output.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/html/charts.h"
#include "report/html/frame.h"
#include "report/html/markup.h"
#include "report/run/text_judgement.h"
#include "report/run/text_stats.h"

namespace assay::report {
namespace {

constexpr size_t kLongestName = 300;
constexpr uint64_t kUnlikeNumbers = std::numeric_limits<uint64_t>::max();

double error_of(const PageOutput& item) {
  if (!item.output->metrics) return INFINITY;
  const double error = item.output->metrics->absolute.greatest;
  return std::isnan(error) && item.output->metrics->count > 0 ? INFINITY : error;
}

std::string number(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.5g}", value); }

std::string metric(std::string_view label, const std::string& value) {
  return fmt::format("<div><span>{}</span><b>{}</b></div>", label, value);
}

std::string index_text(const std::optional<std::vector<int64_t>>& index) { return index ? tuple_text(*index) : "–"; }

std::string heading(const PageOutput& item, bool is_open) {
  const results::OutputComparison& output = *item.output;
  std::string text = fmt::format("<details class=\"output\" id=\"o{}\"{}><summary><b class=\"mono\">{}</b>",
                                 item.number, is_open ? " open" : "", escaped_start(output.name_a, kLongestName));
  if (item.names_pair) {
    text += fmt::format("<span class=\"soft\">{} against {}</span>", escaped_start(item.pair->runner_a, kLongestName),
                        escaped_start(item.pair->runner_b, kLongestName));
  }
  if (item.pair->iterations.size() > 1) text += fmt::format("<span class=\"soft\">iteration {}</span>", item.iteration);
  text += fmt::format("<span class=\"soft\">{} {}</span><span class=\"end\">{}</span></summary><div class=\"body\">\n",
                      escaped(output.dtype_a), shape_text(output.shape_a), verdict_badge(output));
  return text;
}

std::string notes(const results::OutputComparison& output) {
  std::string text;
  if (output.fault == "undecided") {
    text += note("Undecided: no tolerance can be computed: " + escaped(output.tolerance_reason));
  } else if (output.fault == "shapes") {
    text += note(fmt::format("The shapes differ: {} and {}. Nothing was measured.", shape_text(output.shape_a),
                             shape_text(output.shape_b)),
                 true);
  } else if (!output.fault.empty()) {
    text += note(fmt::format("One side has {}, the other {}.", escaped(output.dtype_a), escaped(output.dtype_b)), true);
  }
  if (output.name_a != output.name_b || !output.match.empty()) {
    text += note(fmt::format("Compared with <code>{}</code> ({} {}){}{}.", escaped_start(output.name_b, kLongestName),
                             escaped(output.dtype_b), shape_text(output.shape_b),
                             output.match.empty() ? "" : ", paired by ", escaped(output.match)));
  } else if (output.dtype_a != output.dtype_b) {
    text += note(fmt::format("The types differ: {} and {}.", escaped(output.dtype_a), escaped(output.dtype_b)));
  }
  if (!output.shape_note.empty()) text += note(escaped(output.shape_note));
  if (!output.tolerance_reason.empty() && output.fault.empty())
    text += note("Computed tolerance: " + escaped(output.tolerance_reason));
  return text;
}

std::string judgements(const results::OutputComparison& output) {
  if (output.judgements.empty()) return {};
  std::string text = "<h3>Verdicts</h3><div class=\"scroll\"><table><tbody>";
  for (const results::Judgement& judgement : output.judgements) {
    text += fmt::format("<tr><td>{}</td><td>{}</td></tr>", verdict_badge(judgement.passed),
                        escaped_start(judgement_line(judgement), 2 * kLongestName));
  }
  return text + "</tbody></table></div>\n";
}

std::string metrics_of_strings(const results::PairMetrics& metrics) {
  return "<h3>Metrics</h3><div class=\"metrics\">" +
         metric("unequal strings", fmt::format("{} of {}", metrics.failed_count, metrics.count)) +
         metric("first at", index_text(metrics.first_failed_at)) + "</div>\n";
}

std::string metrics_text(const results::PairMetrics& metrics) {
  const double share =
      metrics.count > 0 ? 100.0 * static_cast<double>(metrics.failed_count) / static_cast<double>(metrics.count) : 0;
  std::string text = "<h3>Metrics</h3><div class=\"metrics\">";
  text +=
      metric("max abs", number(metrics.absolute.greatest)) + metric("max rel", number(metrics.relative.greatest)) +
      metric("mean abs", number(metrics.absolute.mean)) + metric("mean rel", number(metrics.relative.mean)) +
      metric("max ULP", metrics.max_ulp == kUnlikeNumbers ? "–" : fmt::format("{}", metrics.max_ulp)) +
      metric("L2 norm", number(metrics.l2)) + metric("cosine distance", number(std::max(0.0, 1 - metrics.cosine))) +
      metric("PSNR", number(metrics.psnr_db) + " dB") + metric("SNR", number(metrics.snr_db) + " dB") +
      metric("beyond both tolerances", fmt::format("{} of {} ({:.3g}%)", metrics.failed_count, metrics.count, share)) +
      metric("first at", index_text(metrics.first_failed_at)) + metric("worst at", index_text(metrics.worst_at));
  if (metrics.quantile_absolute) text += metric("quantile abs", number(*metrics.quantile_absolute));
  if (metrics.quantile_relative) text += metric("quantile rel", number(*metrics.quantile_relative));
  if (metrics.divergence) text += metric("KL divergence", number(*metrics.divergence));
  return text + "</div>\n";
}

// One statistic of both sides and both differences.
template <typename Fn>
std::string statistics_row(std::string_view label, const results::PairMetrics& metrics, Fn fn) {
  std::string text = fmt::format("<tr><td>{}</td>", label);
  for (const results::TensorStats* stats : {&metrics.a, &metrics.b, &metrics.absolute, &metrics.relative}) {
    text += fmt::format("<td class=\"number\">{}</td>", fn(*stats));
  }
  return text + "</tr>";
}

std::string statistics_text(const results::PairMetrics& metrics) {
  using Stats = results::TensorStats;
  const auto percentile = [](double results::Percentiles::*which) {
    return [which](const Stats& stats) { return stats.percentiles ? number((*stats.percentiles).*which) : "–"; };
  };
  const auto extreme = [](double value, const std::vector<int64_t>& at) {
    return at.empty() ? number(value) : number(value) + " <span class=\"soft\">" + tuple_text(at) + "</span>";
  };
  std::string text =
      "<h3>Statistics</h3><div class=\"scroll\"><table><thead><tr><th></th><th class=\"number\">first</th>"
      "<th class=\"number\">reference</th><th class=\"number\">absolute difference</th>"
      "<th class=\"number\">relative difference</th></tr></thead><tbody>";
  text += statistics_row("mean", metrics, [](const Stats& stats) { return number(stats.mean); });
  text += statistics_row("std-dev", metrics, [](const Stats& stats) { return number(stats.standard_deviation); });
  text += statistics_row("min", metrics, [&](const Stats& stats) { return extreme(stats.least, stats.least_at); });
  text += statistics_row("median", metrics, percentile(&results::Percentiles::median));
  text += statistics_row("p90", metrics, percentile(&results::Percentiles::p90));
  text += statistics_row("p99", metrics, percentile(&results::Percentiles::p99));
  text +=
      statistics_row("max", metrics, [&](const Stats& stats) { return extreme(stats.greatest, stats.greatest_at); });
  text += statistics_row("NaN", metrics, [](const Stats& stats) { return fmt::format("{}", stats.nan_count); });
  text += statistics_row("infinite", metrics, [](const Stats& stats) { return fmt::format("{}", stats.inf_count); });
  return text + "</tbody></table></div>\n";
}

std::string histograms(const results::PairMetrics& metrics) {
  const std::string figures = histogram_figure(metrics.a, metrics.b) +
                              histogram_figure(metrics.absolute, "Absolute difference") +
                              histogram_figure(metrics.relative, "Relative difference");
  if (figures.empty()) return {};
  return "<h3>Histograms</h3><div class=\"pictures\">" + figures + "</div>\n";
}

std::string heat_maps(const results::OutputMaps& maps, PictureDetail detail) {
  if (detail == PictureDetail::none || maps.small.absolute.cells.empty()) return {};
  const bool is_large = detail == PictureDetail::full && maps.large;
  const results::DifferenceMaps& shown = is_large ? *maps.large : maps.small;
  const std::string cell = shown.is_reduced ? " (a cell shows the greatest of its elements)" : "";
  return "<h3>Where they differ</h3><div class=\"pictures\">" +
         heat_figure(shown.absolute, picture::HeatScale::linear, "Absolute difference" + cell) +
         heat_figure(shown.relative, picture::HeatScale::logarithmic, "Relative difference, logarithmic" + cell) +
         "</div>\n";
}

}  // namespace

bool is_worse(const PageOutput& x, const PageOutput& y) {
  if (x.output->passed != y.output->passed) return !x.output->passed;
  const double first = error_of(x);
  const double second = error_of(y);
  if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
  return first > second;
}

std::string verdict_badge(bool passed) { return passed ? badge("PASSED", Mark::good) : badge("FAILED", Mark::bad); }

std::string verdict_badge(const results::OutputComparison& output) {
  return output.fault == "undecided" ? badge("UNDECIDED", Mark::open) : verdict_badge(output.passed);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " × "));
}

std::string output_section(const PageOutput& item, PictureDetail pictures, bool is_open) {
  const results::OutputComparison& output = *item.output;
  std::string text = heading(item, is_open) + notes(output) + judgements(output);
  if (output.metrics && output.dtype_a == "string") {
    text += metrics_of_strings(*output.metrics);
  } else if (output.metrics) {
    text += metrics_text(*output.metrics) + histograms(*output.metrics);
    if (output.maps) text += heat_maps(*output.maps, pictures);
    text += statistics_text(*output.metrics);
  }
  return text + "</div></details>\n";
}

}  // namespace assay::report
