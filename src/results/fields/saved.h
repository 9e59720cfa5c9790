#pragma once

#include "results/accuracy_results.h"
#include "results/data_listing.h"
#include "results/fields/comparison.h"

namespace assay::results {

// `function` is that of the comparison.
void describe_metrics(auto& v, auto& metrics, std::string_view function) {
  v("name", metrics.output);
  v.told("passed", metrics.passed.value_or(false), metrics.passed);
  const bool is_simple = function == "simple";
  v.when(is_simple, "check_error_stat", metrics.statistic);
  v.when(is_simple, "atol", metrics.atol);
  v.when(is_simple, "rtol", metrics.rtol);
  constexpr std::string_view kKeys[][2] = {
      {"max_abs", "max_rel"}, {"mean_abs", "mean_rel"}, {"median_abs", "median_rel"}, {"quantile_abs", "quantile_rel"}};
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    v.when(is_simple && metrics.absolute[i].has_value(), kKeys[i][0], metrics.absolute[i]);
    v.when(is_simple && metrics.relative[i].has_value(), kKeys[i][1], metrics.relative[i]);
  }
  v.when(!is_simple && !function.empty(), "value", metrics.value);
  v.when(!is_simple && !function.empty(), "threshold", metrics.bound);
}

template <>
struct Fields<AccuracyListing> {
  static constexpr std::string_view kCommand = "inspect data";
  static void of(auto& v, auto& listing) {
    v.told("kind", std::string_view("accuracy"));
    v("path", listing.path);
    v.list("pairs", listing.pairs, [](auto& item, auto& pair) {
      item("function", pair.first);
      item("runner_a", pair.second.runner_a);
      item("runner_b", pair.second.runner_b);
      item.lists("iterations", pair.second.iterations,
                 [&](auto& inner, auto& metrics) { describe_metrics(inner, metrics, pair.first); });
    });
    v("timings", listing.timings);
  }
};

template <>
struct Fields<ListedArray> {
  static void of(auto& v, auto& array) {
    v("name", array.name);
    v.some("slice", array.slice);
    v("dtype", array.dtype);
    v("shape", array.shape);
    v("stats", array.stats);
    if (v.has("percentiles", !array.percentiles.empty())) {
      v.list("percentiles", array.percentiles, [](auto& item, auto& percentile) {
        item("percent", percentile.first);
        item("value", percentile.second);
      });
    }
    v.some("values", array.values);
  }
};

template <>
struct Fields<ListedIteration> {
  static void of(auto& v, auto& iteration) {
    v("iteration", iteration.number);
    v("runtime_seconds", iteration.runtime_seconds);
    v("arrays", iteration.arrays);
  }
};

template <>
struct Fields<ListedRun> {
  static void of(auto& v, auto& run) {
    v.or_null(!run.runner.empty(), "runner", run.runner);
    v("iteration_count", run.iteration_count);
    v("iterations", run.iterations);
  }
};

inline constexpr std::string_view kDataWords[] = {"inputs", "outputs"};

template <>
struct Fields<DataListing> {
  static constexpr std::string_view kCommand = "inspect data";
  static void of(auto& v, auto& listing) {
    v("path", listing.path);
    v.word("kind", listing.has_runners, kDataWords);
    v("runs", listing.runs);
    v("timings", listing.timings);
  }
};

}  // namespace assay::results
