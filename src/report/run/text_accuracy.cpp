#include "report/run/text_accuracy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr std::array<std::string_view, 4> kStatistics = {"max", "mean", "median", "quantile"};

void add(std::string& text, std::string_view name, const std::optional<double>& number) {
  if (number) text += fmt::format("{}{}={:.5g}", text.empty() ? "" : ", ", name, *number);
}

std::string metrics_text(const results::SavedMetrics& metrics, const std::string& function) {
  std::string text;
  for (size_t i = 0; i < kStatistics.size(); ++i) {
    add(text, fmt::format("{}_absdiff", kStatistics[i]), metrics.absolute[i]);
    add(text, fmt::format("{}_reldiff", kStatistics[i]), metrics.relative[i]);
  }
  if (!function.empty() && function != "simple" && function != "indices") {
    add(text, function == "l2" ? "l2_norm" : function, metrics.value);
  }
  return text;
}

std::string iteration_text(const std::vector<results::SavedMetrics>& outputs, const std::string& function) {
  std::string text;
  for (const results::SavedMetrics& metrics : outputs) {
    const std::string numbers = metrics_text(metrics, function);
    text += fmt::format("\n        {} | {}{}{}", printable(metrics.output),
                        metrics.passed.value_or(false) ? "PASSED" : "FAILED", numbers.empty() ? "" : " | ", numbers);
  }
  return text;
}

std::string pair_text(const results::SavedPair& pair, const std::string& function, bool all_iterations) {
  const auto has_passed = [](const std::vector<results::SavedMetrics>& outputs) {
    return std::ranges::all_of(outputs, [](const results::SavedMetrics& metrics) { return metrics.passed == true; });
  };
  std::string text =
      fmt::format("\n\n{} vs. {} | {}/{} iteration(s) matched", printable(pair.runner_a), printable(pair.runner_b),
                  std::ranges::count_if(pair.iterations, has_passed), pair.iterations.size());
  const size_t shown = all_iterations ? pair.iterations.size() : std::min<size_t>(1, pair.iterations.size());
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("\n    -- Iteration: {}{}", i, iteration_text(pair.iterations[i], function));
  }
  return text;
}

}  // namespace

std::string accuracy_text(const results::AccuracyResults& comparisons, bool all_iterations) {
  std::string text = fmt::format("==== Accuracy Results ({} comparison(s)) ====", comparisons.size());
  for (const results::SavedComparison& comparison : comparisons) {
    text += fmt::format("\n\n---- Aggregation: {} ----", comparison.is_average ? "average" : "per_sample");
    for (const results::SavedPair& pair : comparison.pairs) {
      text += pair_text(pair, comparison.function, all_iterations);
    }
  }
  return text;
}

}  // namespace assay::report
