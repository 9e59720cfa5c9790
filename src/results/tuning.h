#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/bench.h"

namespace assay::results {

// One set of choices that was built and measured beside the defaults, in turns with them.
struct TunedRoute {
  std::string route;    // `-bf16=on -level=5`; empty: the defaults
  std::string failure;  // reason why it could not be built, or was not measured
  double median_seconds = 0;
  std::optional<BenchRatio> ratio;  // of its time to that of the defaults
  std::optional<double> loss;       // the greatest of its outputs
  bool is_accurate = true;
  bool is_earlier = false;  // of an earlier search: as its file says
};

// A search over choices.
struct Tuning {
  std::string model;
  std::string loss_function;  // empty: outputs were not looked at
  double loss_threshold = 0;
  std::vector<TunedRoute> routes;  // in the order in which they were tried; the first is the defaults
  std::optional<size_t> best;      // accurate, and faster than the defaults beyond its interval; none: these stay
  bool is_complete = true;         // otherwise the time was over
};

}  // namespace assay::results
