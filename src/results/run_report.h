#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/comparison.h"
#include "results/generation.h"
#include "results/tensor_stats.h"

namespace assay::results {

// A value that went into a run or came out of it.
struct RunValue {
  std::string name;
  std::string type;            // `float32`, `sequence of 3`
  std::vector<int64_t> shape;  // of tensors
  bool is_tensor = true;
  std::optional<TensorStats> stats;  // of numbers
};

// A requested value that a run did not simply give.
struct ValueAnswer {
  std::string name;
  bool is_absent = false;  // otherwise it was computed once more, for the request alone
  std::string layer;       // that it became part of
  std::string reason;
};

// A node of the graph that a side runs, and the part of its library that computes it.
struct AssignedNode {
  std::string provider;
  std::string node;  // may be empty
  std::string op;
};

// One side: a backend that ran, or saved results.
struct RunnerRun {
  std::string runner;
  bool is_live = true;
  std::vector<RunValue> inputs;   // of the first iteration
  std::vector<RunValue> outputs;  // of the first iteration
  uint64_t iterations = 0;
  double load_seconds = 0;
  double run_seconds = 0;     // of all iterations together
  std::string failure;        // reason why nothing more came from it
  std::string remedy;         // the setting of a request that lifts the failure, as Error::remedy()
  bool is_input_bad = false;  // failed since files, the model or inputs are wrong
  std::vector<ValueAnswer> answers;
  std::vector<AssignedNode> assignment;  // empty: it was not asked for
};

// Findings of validation in one output.
struct ValidatedOutput {
  std::string runner;
  uint64_t iteration = 0;
  std::string name;
  std::optional<TensorStats> stats;
  uint64_t nan_count = 0;
  uint64_t inf_count = 0;
  std::optional<std::vector<int64_t>> first_nan_at;
  std::optional<std::vector<int64_t>> first_inf_at;
  double seconds = 0;  // that this took
};

// An output's metrics averaged over all iterations, and the verdicts about them.
struct AveragedOutput {
  std::string name;
  bool passed = false;
  std::vector<Judgement> judgements;
};

struct PairAverages {
  std::string runner_a;
  std::string runner_b;
  std::vector<AveragedOutput> outputs;
};

struct RunReport {
  std::string model;
  std::vector<RunnerRun> runs;
  std::vector<PairComparison> pairs;
  std::map<std::string, std::string, std::less<>> operators;  // that give the compared values, where these are known
  std::vector<PairAverages> averages;
  std::vector<ValidatedOutput> validated;
  std::optional<Generation> generation;  // set: sides generated tokens, and there are no pairs
  std::vector<Diagnostic> findings;
  Verdict verdict = Verdict::equal;
  double compare_seconds = 0;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

// The comparison of two files of saved data.
struct DataDifference {
  std::vector<PairComparison> pairs;
  Verdict verdict = Verdict::equal;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
