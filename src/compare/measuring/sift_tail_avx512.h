// The kernel `sift` with AVX-512 for ranges with a tail, included by tile_kernels.cpp behind sift_body.h. Comparisons
// take most of the time of `sift`; here most elements are compared with three limits only.

// The marked ones of 16 elements, in a row.
struct Picked {
  __m512 elements;
  uint64_t count;
};

ASSAY_KERNEL inline Picked pick(__mmask16 marks, const __m512& from) {
  return {_mm512_maskz_compress_ps(marks, from), static_cast<uint32_t>(_mm_popcnt_u32(marks))};
}

// More than four are rare, and short stores cross fewer cache lines. What is behind the elements is overwritten.
ASSAY_KERNEL inline void append(const Picked& picked, float* to, uint64_t& size) {
  memcpy(to + size, &picked.elements, 4 * sizeof(float));
  if (picked.count > 4) [[unlikely]]
    _mm512_storeu_ps(to + size, picked.elements);
  size += picked.count;
}

// Elements of the tail, filled up with NaN to whole vectors.
struct Tail {
  alignas(64) float elements[kPackedRoom];
  uint64_t size;
};

ASSAY_KERNEL inline void sift_tail(const Tail& tail, const CodeRange& range, CodeCount& count, __mmask16* marks) {
  const __m512 below = _mm512_set1_ps(range.below);
  const __m512 end = _mm512_set1_ps(range.end);
  for (uint64_t i = 0; i < tail.size; i += 16) {
    const __m512 in = _mm512_load_ps(tail.elements + i);
    const __mmask16 not_above_below = _mm512_cmp_ps_mask(in, below, _CMP_LE_OQ);
    const __mmask16 not_above_end = _mm512_cmp_ps_mask(in, end, _CMP_LE_OQ);
    count.below += static_cast<uint32_t>(_mm_popcnt_u32(not_above_below));
    count.end += static_cast<uint32_t>(_mm_popcnt_u32(not_above_end));
    marks[i / 16] = static_cast<__mmask16>(marks[i / 16] | (not_above_end & ~not_above_below));
  }
}

// All ranges but the first; whatever is not in the tail is below them.
ASSAY_KERNEL uint64_t sift_tail(Tail& tail, const CodeRanges& ranges, CodeCount* counts, float* kept) {
  _mm512_storeu_ps(tail.elements + tail.size, _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN()));
  __mmask16 marks[kPackedRoom / 16] = {};
  for (size_t r = 1; r < ranges.kept; ++r) {
    CodeCount count = {kTile - tail.size, kTile - tail.size};
    sift_tail(tail, ranges.all[r], count, marks);
    counts[r].below += count.below;
    counts[r].end += count.end;
  }
  uint64_t size = 0;
  for (uint64_t i = 0; i < tail.size; i += 16) {
    const Picked picked = pick(marks[i / 16], _mm512_load_ps(tail.elements + i));
    _mm512_storeu_ps(kept + size, picked.elements);
    size += picked.count;
  }
  return size;
}

ASSAY_KERNEL uint64_t sift_with_tail(const float* x, const CodeRanges& ranges, CodeCount* counts, float* kept) {
  if (!ranges.has_tail) return sift(x, ranges, counts, kept);
  count_rest(x, ranges, counts);
  const __m512 below = _mm512_set1_ps(ranges.all[0].below);
  const __m512 end = _mm512_set1_ps(ranges.all[0].end);
  const __m512 tail_start = _mm512_set1_ps(ranges.all[1].below);
  Tail tail;
  tail.size = 0;
  uint64_t size = 0;
  uint64_t not_above_end = 0;
#pragma GCC unroll 2
  for (uint64_t i = 0; i < kTile; i += 16) {
    const __m512 in = _mm512_loadu_ps(x + i);
    const __mmask16 low = _mm512_cmp_ps_mask(in, end, _CMP_LE_OQ);
    const Picked inside = pick(_mm512_mask_cmp_ps_mask(low, in, below, _CMP_NLE_UQ), in);
    const Picked above = pick(_mm512_cmp_ps_mask(in, tail_start, _CMP_NLE_UQ), in);
    not_above_end += static_cast<uint32_t>(_mm_popcnt_u32(low));
    append(inside, kept, size);
    append(above, tail.elements, tail.size);
  }
  counts[0].below += not_above_end - size;
  counts[0].end += not_above_end;
  return size + sift_tail(tail, ranges, counts, kept + size);
}
