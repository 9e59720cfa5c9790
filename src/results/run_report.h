#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/tensor_stats.h"

namespace assay::results {

// A value that went into a run or came out of it.
struct RunValue {
  std::string name;
  std::string type;            // `float32`, `sequence`
  std::vector<int64_t> shape;  // of tensors
  bool is_tensor = true;
  std::optional<TensorStats> stats;  // of numbers
};

// One backend's run.
struct RunnerRun {
  std::string runner;
  std::vector<RunValue> inputs;
  std::vector<RunValue> outputs;
  double load_seconds = 0;
  double run_seconds = 0;
};

struct RunReport {
  std::string model;
  std::vector<RunnerRun> runs;
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
