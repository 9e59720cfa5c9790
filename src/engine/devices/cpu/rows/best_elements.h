#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// Loops of TopK over elements of one type, in which a larger element is better, or a smaller one. NaN is the largest.
template <typename T>
struct BestOf {
  // Keeps the better of two elements at each place.
  void (*keep)(T* kept, const T* x, size_t count);
  // Writes the places of all elements that are better than `bound`, of NaN, and of the first `equals` or some more that
  // are as good; returns how many.
  size_t (*collect)(const T* x, size_t count, T bound, size_t equals, int32_t* places);
};

// For one instruction set.
struct BestElements {
  const char* name;
  BestOf<float> largest, smallest;
  BestOf<int64_t> largest_whole, smallest_whole;
};

// The best that this processor has.
const BestElements& best_elements();
// All that this processor has, for tests.
std::span<const BestElements* const> all_best_elements();

}  // namespace assay::engine::cpu
