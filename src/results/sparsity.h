#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"

namespace assay::results {

// One weight along one axis. 2:4 sparse: of every 4 consecutive elements along the axis at least 2 are zero.
struct WeightSparsity {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t axis = 0;
  bool sparse = false;
  double zero_fraction = 0;
  uint64_t group_count = 0;
  uint64_t bad_group_count = 0;    // with fewer than 2 zeros
  std::vector<int64_t> first_bad;  // index of the first element of the first bad group; empty: none
};

// A weight, or what is computed before an operand, that is not looked at.
struct SkippedWeight {
  std::string name;
  std::string reason;
  bool worth_a_warning = false;
};

struct SparsityReport {
  std::string path;
  std::vector<WeightSparsity> weights;
  std::vector<SkippedWeight> skipped;
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
