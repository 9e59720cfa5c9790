#include "compare/runs/verdict.h"

#include <algorithm>

namespace assay::compare {

using results::Verdict;

Verdict verdict(const results::PairComparison& pair) {
  bool has_compared = false;
  for (const results::IterationComparison& iteration : pair.iterations) {
    has_compared = has_compared || !iteration.outputs.empty();
    const bool is_whole = iteration.missing.empty() && iteration.extra.empty();
    if (!is_whole || !std::ranges::all_of(iteration.outputs, &results::OutputComparison::passed)) {
      return Verdict::different;
    }
  }
  if (!has_compared) return Verdict::undecided;
  return pair.iterations_a == pair.iterations_b ? Verdict::equal : Verdict::different;
}

Verdict verdict(const results::RunReport& report) {
  bool is_undecided =
      std::ranges::any_of(report.runs, [](const results::RunnerRun& run) { return !run.failure.empty(); });
  for (const results::PairAverages& averages : report.averages) {
    if (!std::ranges::all_of(averages.outputs, &results::AveragedOutput::passed)) return Verdict::different;
  }
  for (const results::ValidatedOutput& output : report.validated) {
    if (output.nan_count + output.inf_count != 0) return Verdict::different;
  }
  for (const results::PairComparison& pair : report.pairs) {
    const Verdict found = verdict(pair);
    if (found == Verdict::different && report.averages.empty()) return found;
    is_undecided = is_undecided || found == Verdict::undecided;
  }
  return is_undecided ? Verdict::undecided : Verdict::equal;
}

}  // namespace assay::compare
