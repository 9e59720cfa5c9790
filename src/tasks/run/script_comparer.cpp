#include "tasks/run/script_comparer.h"

#include <algorithm>

#include "base/error.h"
#include "base/stopwatch.h"

namespace assay::tasks {
namespace {

results::OutputComparison verdict_about(const std::string& name, bool passed, const remote::ScriptFunction& function) {
  results::OutputComparison output;
  output.name_a = output.name_b = name;
  output.passed = passed;
  output.judgements.push_back({.function = function.function, .passed = passed});
  return output;
}

}  // namespace

ScriptComparer::ScriptComparer(remote::PythonHost& host, remote::ScriptFunction function, size_t runners,
                               bool fail_fast)
    : host_(host), function_(std::move(function)), fail_fast_(fail_fast), pairs_(runners > 1 ? runners - 1 : 0) {}

void ScriptComparer::accept(size_t runner, uint64_t iteration, const remote::IterationResult& result) {
  if (runner < pairs_.size()) {
    held_[{runner, iteration}] = result;
    ++pairs_[runner].iterations_a;
  }
  if (runner == 0) return;
  results::PairComparison& pair = pairs_[runner - 1];
  ++pair.iterations_b;
  const auto held = held_.find({runner - 1, iteration});
  if (held == held_.end()) return;
  results::IterationComparison comparison;
  comparison.index = iteration;
  const Stopwatch comparing;
  for (const auto& [name, passed] : host_.compare(function_, held->second, result)) {
    comparison.outputs.push_back(verdict_about(name, passed, function_));
  }
  const double each = comparing.seconds() / static_cast<double>(comparison.outputs.size());
  for (results::OutputComparison& output : comparison.outputs) output.seconds = each;
  held_.erase(held);
  comparison.passed =
      !comparison.outputs.empty() && std::ranges::all_of(comparison.outputs, &results::OutputComparison::passed);
  pair.passed_count += comparison.passed ? 1 : 0;
  wants_stop_ = wants_stop_ || (fail_fast_ && !comparison.passed);
  pair.iterations.push_back(std::move(comparison));
}

}  // namespace assay::tasks
