#include "compare/runs/saved_metrics.h"

namespace assay::compare {
namespace {

using results::SavedMetrics;

std::optional<double> median(const results::TensorStats& stats) {
  return stats.percentiles ? std::optional(stats.percentiles->median) : std::nullopt;
}

SavedMetrics metrics_of(const results::OutputComparison& output, std::string_view function) {
  SavedMetrics saved;
  saved.output = output.name_a;
  saved.passed = output.passed;
  for (const results::Judgement& judgement : output.judgements) {
    if (judgement.function != function) continue;
    saved.statistic = judgement.statistic;
    saved.passed = judgement.passed;
    saved.atol = judgement.atol;
    saved.rtol = judgement.rtol;
    saved.value = judgement.value;
    saved.bound = judgement.bound;
    if (judgement.unequal_strings) continue;
    if (function != "simple" && function != "indices") saved.passed.reset();
    if (function != "simple") continue;
    const results::PairMetrics& metrics = *output.metrics;
    saved.absolute = {metrics.absolute.greatest, metrics.absolute.mean, median(metrics.absolute),
                      metrics.quantile_absolute};
    saved.relative = {metrics.relative.greatest, metrics.relative.mean, median(metrics.relative),
                      metrics.quantile_relative};
    if (judgement.statistic != "elemwise") saved.passed.reset();
  }
  return saved;
}

}  // namespace

results::AccuracyResults saved_metrics(const results::RunReport& report, const CompareOptions& options) {
  results::AccuracyResults comparisons;
  for (const Function function : options.functions) {
    results::SavedComparison comparison;
    comparison.function = word(function);
    for (const results::PairComparison& pair : report.pairs) {
      results::SavedPair saved{pair.runner_a, pair.runner_b, {}};
      for (const results::IterationComparison& iteration : pair.iterations) {
        std::vector<SavedMetrics>& outputs = saved.iterations.emplace_back();
        for (const results::OutputComparison& output : iteration.outputs) {
          outputs.push_back(metrics_of(output, comparison.function));
        }
      }
      comparison.pairs.push_back(std::move(saved));
    }
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace assay::compare
