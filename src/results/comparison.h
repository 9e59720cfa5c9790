#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/heat_map.h"
#include "results/tensor_stats.h"
#include "tensor/tensor.h"

namespace assay::results {

// The verdict about a comparison.
enum class Verdict : uint8_t { equal, different, undecided };

// Measurements of two arrays of one shape; the second one is the reference of relative differences. Differences are
// exact for integers. Of strings only `count`, `failed_count` (unequal ones) and the indices are set.
struct PairMetrics {
  uint64_t count = 0;
  TensorStats a;
  TensorStats b;
  TensorStats absolute;
  TensorStats relative;
  std::optional<double> quantile_absolute;  // set if a quantile was asked for
  std::optional<double> quantile_relative;
  uint64_t max_ulp =
      0;  // in the narrower of the two floating types; of integers the difference; NaN against a number: 2^64 - 1
  double l2 = 0;
  double cosine = 0;
  double psnr_db = 0;
  double snr_db = 0;
  std::optional<double> divergence;  // Kullback-Leibler, of either side scaled to sum 1; where asked for
  uint64_t failed_count = 0;         // elements beyond both tolerances
  std::optional<std::vector<int64_t>> first_failed_at;
  std::optional<std::vector<int64_t>> worst_at;  // of the greatest absolute difference; a NaN is greatest
};

// The verdict of one comparison function about one output.
struct Judgement {
  std::string function;  // `simple`, `indices`, `l2`, `cosine_similarity`, `psnr`, `snr`, or a script's name
  bool passed = false;
  // simple: what was checked, and what the tolerances would have to be at least
  std::string statistic;
  double atol = 0;
  double rtol = 0;
  double quantile = 0;
  double allowed_share = 0;  // of elements that may exceed both
  double required_abs = 0;
  double required_rel = 0;
  // the others: the metric and its bound
  double value = 0;
  double bound = 0;
  std::optional<uint64_t> unequal_strings;  // of strings, where no statistic or metric applies
  std::vector<std::string> notes;           // further lines about a failure
};

// One output of two runs beside each other.
struct OutputComparison {
  std::string name_a;
  std::string name_b;
  std::string dtype_a;  // declared type
  std::string dtype_b;
  std::vector<int64_t> shape_a;
  std::vector<int64_t> shape_b;
  bool passed = false;
  // The reason for measuring nothing: `shapes` or `kinds` that differ; `undecided` if nobody can say what is correct.
  std::string fault;
  std::string shape_note;        // change of the second one's shape to that of the first
  std::string match;             // way of pairing them, if not by name: `--match`, `order`, `value`
  std::string tolerance_reason;  // set if the tolerance was computed, or could not be
  std::optional<PairMetrics> metrics;
  std::vector<Judgement> judgements;
  double seconds = 0;              // that comparing took
  std::optional<OutputMaps> maps;  // set if a page is to show them
  tensor::Tensor elements_a;       // of small outputs
  tensor::Tensor elements_b;
};

struct IterationComparison {
  uint64_t index = 0;
  std::vector<OutputComparison> outputs;
  std::vector<std::string> missing;   // outputs of the first that the second does not have: a failure
  std::vector<std::string> extra;     // the reverse
  std::vector<std::string> unpaired;  // values that only `mark all` exposes and one side does not have
  bool passed = false;
};

// Two runs, the second being the reference.
struct PairComparison {
  std::string runner_a;
  std::string runner_b;
  std::vector<IterationComparison> iterations;
  uint64_t iterations_a = 0;
  uint64_t iterations_b = 0;
  uint64_t passed_count = 0;
  bool stopped = false;  // ended at the first failure
  Verdict verdict = Verdict::undecided;
  // The first value in the order of the graph that is beyond its tolerance; nothing where the order is not known.
  std::optional<std::string> first_failed;
};

}  // namespace assay::results
