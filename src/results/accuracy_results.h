#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/comparison.h"

namespace assay::results {

// The metrics of one output as a file of comparison results holds them, with the thresholds that they were judged by.
struct SavedMetrics {
  std::string output;
  std::optional<bool> passed;  // stored for `simple` by element and for functions without metrics
  // simple: greatest, mean, median and quantile of the absolute and of the relative difference
  std::string statistic;
  std::array<std::optional<double>, 4> absolute;
  std::array<std::optional<double>, 4> relative;
  double atol = 0;
  double rtol = 0;
  // the others
  double value = 0;
  double bound = 0;
};

// Two runs under one function: the outputs of each iteration.
struct SavedPair {
  std::string runner_a;
  std::string runner_b;
  std::vector<std::vector<SavedMetrics>> iterations;
};

// All pairs under one comparison function (`simple`, `l2`, ...; empty: one without metrics).
struct SavedComparison {
  std::string function;
  bool is_average = false;  // over the iterations
  std::vector<SavedPair> pairs;
};

using AccuracyResults = std::vector<SavedComparison>;

// The contents of a file of comparison results.
struct AccuracyListing {
  std::string path;
  std::vector<std::pair<std::string, SavedPair>> pairs;  // with the function
  std::vector<std::pair<std::string, double>> timings;   // seconds
};

// Saved metrics of two runs under one function, judged again.
struct RejudgedPair {
  std::string function;
  std::string runner_a;
  std::string runner_b;
  uint64_t iterations = 0;
  uint64_t passed = 0;
  uint64_t undecided = 0;
  std::vector<std::string> lines;  // about each output that did not pass
};

struct Rejudgement {
  std::string path;
  std::vector<RejudgedPair> pairs;
  std::vector<std::string> ignored;  // functions that are stored, but were not asked for
  Verdict verdict = Verdict::undecided;
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
