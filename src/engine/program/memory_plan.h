#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::engine {

// A value that needs memory from one step to another, both included.
struct Lifetime {
  uint64_t size_bytes = 0;
  size_t first = 0;
  size_t last = 0;
  uint64_t offset = 0;  // found by plan_memory
};

// Places values in one arena, each at a multiple of `alignment`, so that those alive at the same time do not overlap.
// Returns the size of the arena. O(n log n).
uint64_t plan_memory(std::vector<Lifetime>& lifetimes, uint64_t alignment);

}  // namespace assay::engine
