#include "compare/runs/compare_saved.h"

#include <algorithm>

#include "compare/runs/run_comparer.h"
#include "compare/runs/verdict.h"

namespace assay::compare {
namespace {

void feed(RunComparer& comparer, size_t runner, uint64_t iteration, SavedIterations iterations) {
  if (iteration >= iterations.size()) return;
  for (const tensor::NamedDatum& output : *iterations[iteration]) {
    comparer.accept(runner, iteration, output.name, output.value);
  }
  comparer.finish_iteration(runner, iteration);
}

}  // namespace

results::PairComparison compare_saved(SavedIterations a, SavedIterations b, const CompareOptions& options) {
  RunComparer comparer(2, options);
  for (uint64_t i = 0; i < std::max(a.size(), b.size()) && !comparer.wants_stop(); ++i) {
    feed(comparer, 0, i, a);
    feed(comparer, 1, i, b);
  }
  results::PairComparison pair = std::move(comparer.take()[0]);
  pair.verdict = verdict(pair);
  return pair;
}

}  // namespace assay::compare
