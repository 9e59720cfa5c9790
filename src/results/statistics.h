#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::results {

// The numbers that a value took: extremes, and counts of magnitudes in bins of one width from 0 on.
struct ValueStatistics {
  std::string name;
  double low = 0;
  double high = 0;
  double width = 0;              // a power of two; 0: all numbers were 0
  std::vector<uint64_t> counts;  // up to the last bin that is not empty; of width 0 the number of zeros
};

// Statistics of the values whose ranges int8 needs, over one part of the inputs.
struct CalibrationStatistics {
  std::string schema;
  std::string model;
  std::string digest;  // of the model with its external data; empty: it was no file
  std::vector<ValueStatistics> values;
};

}  // namespace assay::results
