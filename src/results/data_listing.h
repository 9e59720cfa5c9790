#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/tensor_stats.h"

namespace assay::results {

struct ListedArray {
  std::string name;
  std::string slice;  // the part that was taken, as `0,:,3:5`; empty: all
  std::string dtype;
  std::vector<int64_t> shape;
  bool is_boolean = false;
  std::optional<TensorStats> stats;                    // of real numbers and booleans
  std::vector<std::pair<double, double>> percentiles;  // requested ones: percent, value
  std::optional<std::string> values;                   // printed as by NumPy
};

struct ListedIteration {
  size_t number = 0;
  std::optional<double> runtime_seconds;
  std::vector<ListedArray> arrays;
};

// Inputs are one run without a runner.
struct ListedRun {
  std::string runner;
  size_t iteration_count = 0;  // in the file
  std::vector<ListedIteration> iterations;
};

// The contents of a file of saved data.
struct DataListing {
  std::string path;
  bool has_runners = false;
  std::vector<ListedRun> runs;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
