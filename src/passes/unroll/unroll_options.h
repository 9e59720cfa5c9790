#pragma once

#include <cstdint>

namespace assay::passes {

struct UnrollOptions {
  uint64_t most_iterations = 32;  // of one loop
  uint64_t most_nodes = 10'000;   // that all loops may become
};

}  // namespace assay::passes
