// Reductions over the lanes of a vector, after vector_math_body.h.

using Four [[gnu::vector_size(16), gnu::may_alias]] = float;

ASSAY_KERNEL inline float sum_of_lanes(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four sum = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) sum += parts[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

ASSAY_KERNEL inline double sum_in_doubles(const Vector& given) {
  using Doubles [[gnu::vector_size(4 * sizeof(double))]] = double;
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Doubles sum = __builtin_convertvector(parts[0], Doubles);
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) sum += __builtin_convertvector(parts[i], Doubles);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

ASSAY_KERNEL inline float greatest_lane(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four kept = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) {
    kept = ((parts[i] > kept) | (parts[i] != parts[i])) ? parts[i] : kept;
  }
  float greatest = kept[0];
  for (size_t lane = 1; lane < 4; ++lane) {
    greatest = kept[lane] > greatest || kept[lane] != kept[lane] ? kept[lane] : greatest;
  }
  return greatest;
}

// True if the truths of all lanes are true.
template <typename Truths>
ASSAY_KERNEL inline bool holds_everywhere(const Truths& truths) {
#if defined(__x86_64__)
  if constexpr (sizeof(Truths) == 64) return _mm512_movepi32_mask(reinterpret_cast<__m512i>(truths)) == kAllLanes;
  if constexpr (sizeof(Truths) == 32) return _mm256_movemask_ps(reinterpret_cast<__m256>(truths)) == 0xFF;
#endif
  int32_t all = -1;
  for (size_t lane = 0; lane < kWidth; ++lane) all &= truths[lane];
  return all != 0;
}
