#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// A value whose bits were others in a later run.
struct SameDifference {
  std::string value;
  std::string node;
  std::string op;
  uint64_t run = 0;      // from 1; the first one is what the others are compared with
  unsigned threads = 0;  // 0: as in the first
};

// Differences between runs of one backend: it gives the same bits again if there are none.
struct SameReport {
  std::string model;
  std::string backend;
  uint64_t runs = 0;
  uint64_t value_count = 0;
  std::vector<SameDifference> differences;  // in the order of the graph, the first run that differs for each value
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
