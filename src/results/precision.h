#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/debug.h"

namespace assay::results {

// The report of `debug precision`.
struct PrecisionReport {
  std::string model;
  std::string low;                            // `float16`
  std::string direction;                      // `forward`, `reverse`, `any`
  uint64_t layer_count = 0;                   // of the main graph
  bool is_found = false;                      // some layers in float32 are enough
  std::vector<ReducedNode> kept;              // these
  std::vector<ReducedNode> unconverted = {};  // others that the conversion to 16 bits leaves in float32 by itself
  uint64_t converted_count = 0;               // layers that are not in float32 then
  std::string output;
  DebugLoop loop;
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
