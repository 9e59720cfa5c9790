#pragma once

#include <cstdint>

namespace assay::passes {

struct OutlineOptions {
  uint64_t least_nodes = 4;  // of a repeated part
  uint64_t least_count = 2;  // of its occurrences
};

}  // namespace assay::passes
