// The kernel `sift` for vectors of kBytes, included by tile_kernels.cpp as tile_kernels_body.h is.

using FloatVector [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(4)]] = float;
using FloatMask [[gnu::vector_size(kBytes)]] = int32_t;
constexpr uint64_t kFloats = kBytes / sizeof(float);
constexpr size_t kGroup = 4;  // ranges of which limits and counts are in registers

ASSAY_KERNEL inline uint64_t sum_of(const FloatMask& counts) {
  uint64_t sum = 0;
  for (uint64_t lane = 0; lane < kFloats; ++lane) sum += static_cast<uint64_t>(counts[lane]);
  return sum;
}

// Counts, and marks the elements that are in one of the ranges.
template <size_t kRanges>
ASSAY_KERNEL void count_ranges(const float* x, const CodeRange* ranges, CodeCount* counts, TileBits& marks) {
  FloatVector below[kRanges], end[kRanges];
  FloatMask count_below[kRanges] = {}, count_end[kRanges] = {};
  for (size_t r = 0; r < kRanges; ++r) {
    below[r] = FloatVector{} + ranges[r].below;
    end[r] = FloatVector{} + ranges[r].end;
  }
  for (uint64_t w = 0; w < kTile / 64; ++w) {
    uint64_t word = 0;
    for (uint64_t i = 0; i < 64; i += kFloats) {
      const FloatVector in = *reinterpret_cast<const FloatVector*>(x + 64 * w + i);
      FloatMask inside = {};
#pragma GCC unroll 4
      for (size_t r = 0; r < kRanges; ++r) {
        const FloatMask not_above_below = in <= below[r];
        const FloatMask not_above_end = in <= end[r];
        count_below[r] -= not_above_below;
        count_end[r] -= not_above_end;
        inside |= not_above_end & ~not_above_below;
      }
      word |= uint64_t{bits_of(inside)} << i;
    }
    marks[w] |= word;
  }
  for (size_t r = 0; r < kRanges; ++r) {
    counts[r].below += sum_of(count_below[r]);
    counts[r].end += sum_of(count_end[r]);
  }
}

ASSAY_KERNEL inline void count_group(const float* x, const CodeRange* ranges, size_t size, CodeCount* counts,
                                     TileBits& marks) {
  switch (size) {
    case 1:
      return count_ranges<1>(x, ranges, counts, marks);
    case 2:
      return count_ranges<2>(x, ranges, counts, marks);
    case 3:
      return count_ranges<3>(x, ranges, counts, marks);
    default:
      return count_ranges<kGroup>(x, ranges, counts, marks);
  }
}

// The marked ones of 64 elements. Most often they are few, and then nothing hangs on how many.
ASSAY_KERNEL inline uint64_t pack_word(const float* x, uint64_t marks, float* to) {
  constexpr uint64_t kFew = 4;
  const auto count = static_cast<uint64_t>(std::popcount(marks));
  if (count > kFew) return pack_vector(x, marks, to);
#pragma GCC unroll 4
  for (uint64_t i = 0; i < kFew; ++i, marks &= marks - 1) to[i] = x[std::countr_zero(marks) & 63];
  return count;
}

// Ranges that are only counted.
ASSAY_KERNEL inline void count_rest(const float* x, const CodeRanges& ranges, CodeCount* counts) {
  TileBits unused = {};
  for (size_t r = ranges.kept; r < ranges.all.size(); r += kGroup) {
    count_group(x, &ranges.all[r], std::min(kGroup, ranges.all.size() - r), counts + r, unused);
  }
}

ASSAY_KERNEL uint64_t sift(const float* x, const CodeRanges& ranges, CodeCount* counts, float* kept) {
  count_rest(x, ranges, counts);
  TileBits marks = {};
  for (size_t r = 0; r < ranges.kept; r += kGroup) {
    count_group(x, &ranges.all[r], std::min(kGroup, ranges.kept - r), counts + r, marks);
  }
  uint64_t count = 0;
  for (uint64_t w = 0; w < kTile / 64; ++w) count += pack_word(x + 64 * w, marks[w], kept + count);
  return count;
}
