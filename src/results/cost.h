#pragma once

#include <cstdint>
#include <string>

namespace assay::results {

// Numbers, or formulas in the names of dims; `?` where shapes are not known.
struct Cost {
  std::string macs;   // multiply-accumulates
  std::string bytes;  // of all inputs, weights included, and outputs
};

}  // namespace assay::results
