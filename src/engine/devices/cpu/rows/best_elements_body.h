// The loops of best_elements.h; a body of instruction_sets_body.h.

// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_reductions_body.h"
// clang-format on

template <typename T, bool kLargest>
ASSAY_KERNEL void keep_best(T* kept, const T* x, size_t count) {
  using Lanes [[gnu::vector_size(kBytes)]] = T;
  constexpr size_t kLanes = kBytes / sizeof(T);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Lanes best, given;
    std::memcpy(&best, kept + i, kBytes);
    std::memcpy(&given, x + i, kBytes);
    if constexpr (kLargest)
      best = ((given > best) | (given != given)) ? given : best;
    else
      best = ((given < best) | (best != best)) ? given : best;
    std::memcpy(kept + i, &best, kBytes);
  }
  for (; i < count; ++i) {
    const bool wins = kLargest ? x[i] > kept[i] || x[i] != x[i] : x[i] < kept[i] || kept[i] != kept[i];
    if (wins) kept[i] = x[i];
  }
}

// True if no element of some vectors is better than the bound, nor, if equals are wanted, as good.
template <bool kLargest, bool kEquals, size_t kVectors, typename Lanes, typename T>
ASSAY_KERNEL inline bool are_unwanted(const T* x, const Lanes& bounds) {
  Bits unwanted = ~Bits{};
  for (size_t v = 0; v < kVectors; ++v) {
    Lanes given;
    std::memcpy(&given, x + v * (kBytes / sizeof(T)), kBytes);
    if constexpr (kEquals)
      unwanted &= reinterpret_cast<Bits>(kLargest ? given < bounds : given > bounds);
    else
      unwanted &= reinterpret_cast<Bits>(kLargest ? given <= bounds : given >= bounds);
  }
  return holds_everywhere(unwanted);
}

// From the place `i` on, until there are so many equals; returns how many are found by then.
template <bool kLargest, bool kEquals, typename T>
ASSAY_KERNEL size_t collect_from(size_t& i, const T* x, size_t count, T bound, size_t equals, int32_t* places) {
  using Lanes [[gnu::vector_size(kBytes)]] = T;
  constexpr size_t kVectors = 4, kTogether = kVectors * kBytes / sizeof(T);
  const Lanes bounds = bound - Lanes{};
  size_t found = 0;
  size_t seen = 0;
  while (i < count && (!kEquals || seen < equals)) {
    const size_t end = std::min(count, i + kTogether);
    if (end == i + kTogether && are_unwanted<kLargest, kEquals, kVectors>(x + i, bounds)) i = end;
    for (; i < end; ++i) {
      places[found] = static_cast<int32_t>(i);
      const bool is_unwanted = kLargest ? x[i] < bound : x[i] > bound;
      found += !is_unwanted && (kEquals || x[i] != bound);
      seen += x[i] == bound;
    }
  }
  return found;
}

template <typename T, bool kLargest>
ASSAY_KERNEL size_t collect_best(const T* x, size_t count, T bound, size_t equals, int32_t* places) {
  size_t i = 0;
  const size_t found = collect_from<kLargest, true>(i, x, count, bound, equals, places);
  return found + collect_from<kLargest, false>(i, x, count, bound, 0, places + found);
}

constexpr BestOf<float> kLargestOnes = {keep_best<float, true>, collect_best<float, true>};
constexpr BestOf<float> kSmallestOnes = {keep_best<float, false>, collect_best<float, false>};
constexpr BestOf<int64_t> kLargestWhole = {keep_best<int64_t, true>, collect_best<int64_t, true>};
constexpr BestOf<int64_t> kSmallestWhole = {keep_best<int64_t, false>, collect_best<int64_t, false>};

constexpr BestElements kKernels = {kName, kLargestOnes, kSmallestOnes, kLargestWhole, kSmallestWhole};
