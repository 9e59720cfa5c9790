#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::match {

// Parts of a sequence that are the same, each of `length` neighbouring places.
struct Repeat {
  std::vector<size_t> starts;  // of each occurrence
  size_t length = 0;
};

// The least sizes of what counts.
struct RepeatLimits {
  uint64_t least_length = 4;
  uint64_t least_count = 2;  // of occurrences
};

// Repeats in a sequence of classes, those first that save most when they are written once. Occurrences of different
// repeats may overlap.
std::vector<Repeat> find_repeats(std::span<const uint32_t> classes, const RepeatLimits& limits);

}  // namespace assay::match
