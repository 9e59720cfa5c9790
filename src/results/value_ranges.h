#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// Shares of the numbers of a value in a narrower type, beside those that are not 0.
struct NarrowedShare {
  double overflow = 0;  // beyond the greatest number
  double denormal = 0;  // with fewer bits, near 0
  double lost = 0;      // that become 0
};

// The numbers of one value in a run.
struct ValueRange {
  std::string value;
  std::string node;
  std::string op;
  double least = 0;  // magnitude of those that are not 0
  double greatest = 0;
  uint64_t count = 0;
  NarrowedShare float16;
  NarrowedShare bfloat16;
  NarrowedShare int8;  // with one scale for the whole value
};

// Between which numbers a value lies, as far as can be said without running the model; infinite ends: nothing is known.
struct ValueBounds {
  std::string value;
  std::string node;
  std::string op;
  double low = 0;
  double high = 0;
};

// The report of `debug range`.
struct RangeReport {
  std::string model;
  bool is_static = false;           // there are bounds, and no values
  std::vector<ValueBounds> bounds;  // of layers, in the order of the graph
  std::vector<ValueRange> values;   // of layers, in the order of the graph
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
