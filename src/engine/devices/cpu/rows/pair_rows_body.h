// The loops of pair_rows.h, for AVX-512 with BF16; included by pair_rows.cpp, in a namespace of its own, with
// ASSAY_KERNEL saying which instructions these are.
#include "engine/devices/cpu/vector_math_body.h"

using Four [[gnu::vector_size(16), gnu::may_alias]] = float;

// Lanes of a vector from the i-th of `count` numbers on.
ASSAY_KERNEL inline __mmask16 lanes_from(size_t i, size_t count) {
  return count - i >= kWidth ? kAllLanes : static_cast<__mmask16>((1U << (count - i)) - 1);
}

ASSAY_KERNEL void interleave(const uint16_t* first, const uint16_t* second, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; i += kWidth) {
    const __mmask16 lanes = lanes_from(i, count);
    const __m512i low = _mm512_maskz_cvtepu16_epi32(kAllLanes, _mm256_maskz_loadu_epi16(lanes, first + i));
    __m512i high = _mm512_setzero_si512();
    if (second != nullptr) high = _mm512_maskz_cvtepu16_epi32(kAllLanes, _mm256_maskz_loadu_epi16(lanes, second + i));
    _mm512_mask_storeu_epi32(out + 2 * i, lanes, low | _mm512_maskz_slli_epi32(kAllLanes, high, 16));
  }
}

ASSAY_KERNEL inline float greatest_lane(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four kept = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) kept = parts[i] > kept ? parts[i] : kept;
  return std::max(std::max(kept[0], kept[1]), std::max(kept[2], kept[3]));
}

ASSAY_KERNEL inline float sum_of_lanes(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  const Four sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Scores of a row, as they are and as they become.
struct ScoreRow {
  float* scores;
  const float* mask;  // null: nothing is added
  size_t count;
  float scale;
};

// From the i-th on; minus infinity for lanes beyond the last.
template <bool kIsWhole>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_scores(const ScoreRow& row, size_t i, Vector& out) {
  Vector by;
  set(by, row.scale);
  if constexpr (kIsWhole) {
    out = at(row.scores + i).lanes * by;
    if (row.mask != nullptr) out += at(row.mask + i).lanes;
  } else {
    const __mmask16 lanes = lanes_from(i, row.count);
    out = _mm512_maskz_loadu_ps(lanes, row.scores + i) * by;
    if (row.mask != nullptr) out += Vector(_mm512_maskz_loadu_ps(lanes, row.mask + i));
    out = _mm512_mask_blend_ps(lanes, Vector{} - std::numeric_limits<float>::infinity(), out);
  }
}

// exp(x) for x not above 0, within 2^-18 of it: what is rounded to bfloat16 has no use for more. Below -104 it is 0;
// NaN stays. 2^n from the power itself, and a polynomial for what it is beyond n.
ASSAY_KERNEL [[gnu::always_inline]] inline void coarse_exponential(const Vector& x, Vector& out) {
  constexpr float kPower[] = {1.000002593e+00F, 6.930038345e-01F, 2.414427569e-01F, 5.201146061e-02F, 1.353416792e-02F};
  constexpr int kBeyondFloor = 0x01;  // of vreduceps
  const Vector power = x * kLog2e;
  const Vector part = _mm512_maskz_reduce_ps(kAllLanes, power, kBeyondFloor);
  polynomial(kPower, part, out);
  out = _mm512_maskz_scalef_ps(kAllLanes, out, power);
}

template <bool kIsWhole>
ASSAY_KERNEL [[gnu::always_inline]] inline void keep_greatest(const ScoreRow& row, size_t i, Vector& kept) {
  Vector score;
  read_scores<kIsWhole>(row, i, score);
  kept = _mm512_maskz_max_ps(kAllLanes, score, kept);  // keeps its number if the score is NaN
}

ASSAY_KERNEL inline float greatest_score(const ScoreRow& row) {
  Vector kept = Vector{} - std::numeric_limits<float>::infinity();
  size_t i = 0;
  for (; i + kWidth <= row.count; i += kWidth) keep_greatest<true>(row, i, kept);
  if (i < row.count) keep_greatest<false>(row, i, kept);
  return greatest_lane(kept);
}

template <bool kIsWhole>
ASSAY_KERNEL [[gnu::always_inline]] inline void make_weights(const ScoreRow& row, size_t i, float less, Vector& sums) {
  Vector score, weight;
  read_scores<kIsWhole>(row, i, score);
  coarse_exponential(score - less, weight);
  sums += weight;
  auto* const out = reinterpret_cast<uint16_t*>(row.scores) + i;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(weight)));
}

ASSAY_KERNEL inline float make_weights(const ScoreRow& row, float less) {
  Vector sums = {};
  size_t i = 0;
  for (; i + kWidth <= row.count; i += kWidth) make_weights<true>(row, i, less, sums);
  if (i < row.count) make_weights<false>(row, i, less, sums);
  return sum_of_lanes(sums);
}

// Softmax of a block like in row_kernels_body.h, which says the same of a row of which everything is minus infinity or
// NaN.
ASSAY_KERNEL void softmax_block(float* scores, const float* mask, size_t count, float scale, SoftmaxSoFar& state) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  const ScoreRow row = {scores, mask, count, scale};
  const float before = state.greatest;
  state.greatest = std::max(before, greatest_score(row));
  state.factor = before == state.greatest ? 1 : 0;
  if (before != state.greatest && before != kLeast) state.factor = std::exp(before - state.greatest);
  const float less = state.greatest == kLeast ? 0 : state.greatest;
  state.sum = state.sum * state.factor + make_weights(row, less);
  if (std::isnan(state.sum)) state.greatest = state.sum;
}

ASSAY_KERNEL void scale_rounded(const float* x, float factor, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; i += kWidth) {
    const __mmask16 lanes = lanes_from(i, count);
    const Vector scaled = _mm512_maskz_loadu_ps(lanes, x + i) * factor;
    _mm256_mask_storeu_epi16(out + i, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(scaled)));
  }
}

ASSAY_KERNEL void greatest_size(const uint16_t* x, int64_t row, size_t rows, size_t count, float& kept) {
  constexpr size_t kHalves = kBytes / sizeof(uint16_t);
  const __m512i sizes = _mm512_set1_epi16(0x7FFF);
  __m512i greatest = _mm512_setzero_si512();
  for (size_t r = 0; r < rows; ++r, x += row) {
    for (size_t i = 0; i < count; i += kHalves) {
      const __mmask32 lanes = count - i >= kHalves ? ~__mmask32{0} : (__mmask32{1} << (count - i)) - 1;
      greatest = _mm512_maskz_max_epu16(~__mmask32{0}, greatest, _mm512_maskz_loadu_epi16(lanes, x + i) & sizes);
    }
  }
  alignas(kBytes) uint16_t found[kHalves];
  _mm512_store_si512(found, greatest);
  const auto most = static_cast<uint32_t>(*std::max_element(found, found + kHalves)) << 16;
  kept = std::bit_cast<float>(std::max(most, std::bit_cast<uint32_t>(kept)));
}
