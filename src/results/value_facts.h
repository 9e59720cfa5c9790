#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/tensor_stats.h"

namespace assay::results {

struct ChannelRange {
  double least = 0;
  double mean = 0;
  double greatest = 0;
};

// Facts of the elements of a value.
struct ValueFacts {
  std::string name;
  std::string type;
  std::string source;  // `the model`, or a file; empty: no elements are known
  std::string reason;  // for having none
  TensorStats stats;
  uint64_t zeros = 0;
  uint64_t subnormals = 0;
  uint64_t outside_float16 = 0;  // finite, but beyond the greatest one of float16
  std::vector<std::pair<double, double>> percentiles;
  Histogram magnitudes;  // edges are logarithms to the base 10; zeros are left out
  std::vector<ChannelRange> channels;
};

// The rows and columns of a part of a value; where it is larger than was asked for, cells stand for several elements.
struct ValueSlice {
  uint64_t rows = 0;
  uint64_t columns = 0;
  std::vector<int64_t> dims;  // of the part before it was reduced
  bool is_reduced = false;
  double least = 0;
  double greatest = 0;
  std::vector<float> cells;
};

// Two versions of one value.
struct ValueComparison {
  struct Worst {
    std::vector<int64_t> at;
    double left = 0;
    double right = 0;
  };
  std::vector<std::string> sides;
  std::vector<Histogram> histograms;  // with the same edges
  std::vector<std::pair<double, double>> points;
  std::vector<Worst> worst;
};

}  // namespace assay::results
