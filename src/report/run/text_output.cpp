#include "report/run/text_output.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "report/run/text_judgement.h"
#include "report/run/text_run.h"
#include "report/run/text_stats.h"
#include "tensor/array_text.h"

namespace assay::report {
namespace {

// The peer's name of a metric, and its unit.
struct MetricWords {
  std::string_view function;
  std::string_view label;
  std::string_view unit;
  bool is_least;  // the bound is a minimum
};

constexpr std::array kMetrics = {MetricWords{"l2", "L2 Norm", "", false},
                                 MetricWords{"cosine_similarity", "Cosine Similarity", "", true},
                                 MetricWords{"psnr", "PSNR", " dB", true}, MetricWords{"snr", "SNR", " dB", true}};

const MetricWords* find_metric(std::string_view function) {
  for (const MetricWords& words : kMetrics) {
    if (words.function == function) return &words;
  }
  return nullptr;
}

// Five significant digits, or as many as tell the value from its bound.
std::string digits(double value, double bound) {
  for (int precision = 5; precision < 17; ++precision) {
    const std::string text = fmt::format("{:.{}g}", value, precision);
    if (value == bound || text != fmt::format("{:.{}g}", bound, precision)) return text;
  }
  return fmt::format("{:.17g}", value);
}

// `1e-05`, `0.001`, `0`; of a computed one five digits.
std::string tolerance_text(double tolerance) {
  constexpr size_t kLongest = 10;
  std::string text = python_float(tolerance);
  if (text.size() > kLongest) text = fmt::format("{:.5g}", tolerance);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

class OutputBlock {
 public:
  OutputBlock(const results::OutputComparison& output, const RunnerNames& runners, Log& log)
      : output_(output), runners_(runners), log_(log), detail_(output.passed ? LogLevel::verbose : LogLevel::info) {}

  void print() {
    const Log::Indent indent(log_);
    if (!output_.match.empty()) {
      log_.info(fmt::format("Matched `{}` with `{}` by {}", printable(output_.name_a), printable(output_.name_b),
                            output_.match));
    }
    if (!output_.shape_note.empty()) log_.info(output_.shape_note);
    if (!output_.fault.empty()) return print_fault();
    if (output_.dtype_a == "string")
      print_unequal_strings();
    else
      print_numbers();
    for (const results::Judgement& judgement : output_.judgements) print_judgement(judgement, output_.name_a, log_);
  }

 private:
  void print_numbers() {
    const results::Judgement* simple = find("simple");
    if (simple != nullptr) print_tolerance(*simple);
    print_side(runners_.a, output_.name_a, output_.metrics->a, output_.elements_a);
    print_side(runners_.b, output_.name_b, output_.metrics->b, output_.elements_b);
    if (simple != nullptr) print_errors(*simple);
  }

  void print_unequal_strings() {
    const results::PairMetrics& metrics = *output_.metrics;
    log_.info(fmt::format("Unequal Strings: {} of {}", metrics.failed_count, metrics.count));
  }

  const results::Judgement* find(std::string_view function) const {
    for (const results::Judgement& judgement : output_.judgements) {
      if (judgement.function == function) return &judgement;
    }
    return nullptr;
  }

  void print_fault() {
    const std::string name = printable(output_.name_a);
    if (output_.fault == "undecided") {
      log_.report(LogLevel::warning, fmt::format("UNDECIDED | Output: `{}` | No tolerance can be computed: {}", name,
                                                 output_.tolerance_reason));
    } else if (output_.fault == "shapes") {
      log_.verdict(false, fmt::format("FAILED | Output: `{}` | Will not compare outputs of different shapes.\n"
                                      "Note: Output shapes are {} and {}.",
                                      name, tuple_text(output_.shape_a), tuple_text(output_.shape_b)));
      log_.verdict(false, "Note: Use --no-shape-check to attempt to compare values anyway.");
    } else {
      log_.verdict(false, fmt::format("FAILED | Output: `{}` | One side has {}, the other {}.", name, output_.dtype_a,
                                      output_.dtype_b));
    }
  }

  void print_tolerance(const results::Judgement& simple) {
    log_.info(fmt::format("Tolerance: [abs={:.5g}, rel={:.5g}] | Checking {} error", simple.atol, simple.rtol,
                          simple.statistic));
    if (!output_.tolerance_reason.empty()) log_.info("Computed: " + output_.tolerance_reason);
  }

  void print_side(std::string_view runner, const std::string& name, const results::TensorStats& stats,
                  const tensor::Tensor& elements) {
    log_.info(fmt::format("{}: {} | Stats: {}", runner, printable(name), stats_text(stats)));
    const Log::Indent indent(log_);
    if (elements.count() > 0) {
      log_.report(detail_, "---- Values ----\n" + indent_continuation("    " + tensor::array_text(elements), 4));
    }
    print_histogram(stats);
  }

  void print_histogram(const results::TensorStats& stats) {
    if (stats.histogram) log_.report(detail_, "---- Histogram ----\n" + histogram_text(*stats.histogram));
  }

  void print_errors(const results::Judgement& simple) {
    const results::PairMetrics& metrics = *output_.metrics;
    log_.info("Error Metrics: " + printable(output_.name_a));
    const Log::Indent indent(log_);
    std::string suffix;
    if (simple.statistic == "elemwise") suffix = " (requirements may be lower if both abs/rel tolerances are set)";
    if (simple.statistic == "quantile") suffix = fmt::format(" (quantile={:.4g})", simple.quantile);
    log_.info(fmt::format("Minimum Required Tolerance: {} error | [abs={:.5g}] OR [rel={:.5g}]{}", simple.statistic,
                          simple.required_abs, simple.required_rel, suffix));
    print_difference("Absolute Difference", metrics.absolute);
    print_difference("Relative Difference", metrics.relative);
    if (metrics.failed_count > 0) print_failed_elements(metrics);
  }

  void print_difference(std::string_view title, const results::TensorStats& stats) {
    log_.info(fmt::format("{} | Stats: {}", title, stats_text(stats)));
    const Log::Indent indent(log_);
    print_histogram(stats);
  }

  void print_failed_elements(const results::PairMetrics& metrics) {
    log_.info(fmt::format("Elements Beyond Both: {} of {} ({:.3g}%), first at {}, worst at {}, max ULP {}",
                          metrics.failed_count, metrics.count,
                          100.0 * static_cast<double>(metrics.failed_count) / static_cast<double>(metrics.count),
                          tuple_text(metrics.first_failed_at.value_or(std::vector<int64_t>())),
                          tuple_text(metrics.worst_at.value_or(std::vector<int64_t>())), metrics.max_ulp));
  }

  const results::OutputComparison& output_;
  const RunnerNames& runners_;
  Log& log_;
  LogLevel detail_;
};

}  // namespace

void print_judgement(const results::Judgement& judgement, const std::string& name, Log& log) {
  for (const std::string& note : judgement.notes) log.verdict(judgement.passed, note);
  const std::string_view verdict = judgement.passed ? "PASSED" : "FAILED";
  if (judgement.unequal_strings) {
    log.verdict(judgement.passed,
                fmt::format("{} | Output: '{}' | {}", verdict, printable(name), strings_line(judgement)));
    return;
  }
  if (const MetricWords* metric = find_metric(judgement.function)) {
    log.verdict(judgement.passed,
                fmt::format("{}: {}{} ({}: {}{}) | {}", metric->label, digits(judgement.value, judgement.bound),
                            metric->unit, metric->is_least ? "min required" : "tolerance",
                            digits(judgement.bound, judgement.value), metric->unit, verdict));
    return;
  }
  std::string words;
  if (judgement.function == "simple") {
    words = fmt::format("Difference {} tolerance (rel={}, abs={})", judgement.passed ? "is within" : "exceeds",
                        tolerance_text(judgement.rtol), tolerance_text(judgement.atol));
    if (judgement.allowed_share > 0) words += fmt::format(", {:.4g}% may exceed it", 100 * judgement.allowed_share);
  } else if (judgement.function == "indices") {
    words = fmt::format("Difference {} index tolerance ({})", judgement.passed ? "is within" : "exceeds",
                        static_cast<int64_t>(judgement.bound));
  } else {
    words = "Judged by " + judgement.function;
  }
  log.verdict(judgement.passed, fmt::format("{} | Output: '{}' | {}", verdict, printable(name), words));
}

void print_output(const results::OutputComparison& output, const RunnerNames& runners, Log& log) {
  if (!output.metrics && output.fault.empty()) {  // judged by a script
    for (const results::Judgement& judgement : output.judgements) print_judgement(judgement, output.name_a, log);
    return;
  }
  log.info(fmt::format("Comparing Output: '{}' (dtype={}, shape={}) with '{}' (dtype={}, shape={})",
                       printable(output.name_a), output.dtype_a, tuple_text(output.shape_a), printable(output.name_b),
                       output.dtype_b, tuple_text(output.shape_b)));
  OutputBlock(output, runners, log).print();
}

}  // namespace assay::report
