#include "compare/runs/verdict.h"

#include <algorithm>
#include <set>

namespace assay::compare {

using results::Verdict;

Verdict verdict(const results::PairComparison& pair) {
  bool has_compared = false;
  bool is_decided = true;
  for (const results::IterationComparison& iteration : pair.iterations) {
    has_compared = has_compared || !iteration.outputs.empty();
    if (!iteration.missing.empty() || !iteration.extra.empty()) return Verdict::different;
    for (const results::OutputComparison& output : iteration.outputs) {
      if (!output.passed && output.fault != "undecided") return Verdict::different;
      is_decided = is_decided && output.fault != "undecided";
    }
  }
  if (!has_compared || !is_decided) return Verdict::undecided;
  return pair.iterations_a == pair.iterations_b ? Verdict::equal : Verdict::different;
}

Verdict verdict(const results::RunReport& report) {
  bool is_undecided =
      std::ranges::any_of(report.runs, [](const results::RunnerRun& run) { return !run.failure.empty(); });
  if (report.generation && report.generation->first_divergence) return Verdict::different;
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

std::optional<std::string> first_failed(const results::PairComparison& pair, const std::vector<std::string>& order) {
  std::set<std::string_view> failed;
  for (const results::IterationComparison& iteration : pair.iterations) {
    for (const results::OutputComparison& output : iteration.outputs) {
      if (!output.passed && output.metrics) failed.insert(output.name_a);
    }
  }
  const auto first = std::ranges::find_if(order, [&](const std::string& name) { return failed.contains(name); });
  return first == order.end() ? std::nullopt : std::optional(*first);
}

}  // namespace assay::compare
