// softmax(q * k * scale + mask) * v: a warp a query, whose scores lie in shared memory.
#define kWarps (kThreads / 32)
// The product of a query and a key, by packs where both have neighbours in their rows.
template <typename A, typename B>
DEVICE float dot(const Params& p, const A* a, int a_step, const B* b, int b_step) {
  float sum = 0;
  if (kPack > 1 && a_step == 1 && b_step == 1) {
    for (int i = 0; i < kDepth; i += kPack) {
      const Pack<A, kPack> x = load_pack<A, kPack>(a + i);
      const Pack<B, kPack> y = load_pack<B, kPack>(b + i);
#pragma unroll
      for (int e = 0; e < kPack; ++e) sum = fmaf(widened(x.e[e]), widened(y.e[e]), sum);
    }
    return sum;
  }
  for (int i = 0; i < kDepth; ++i) sum = fmaf(widened(a[(int64)i * a_step]), widened(b[(int64)i * b_step]), sum);
  return sum;
}
KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const uint32 query = block_x() * kWarps + (uint32)warp;
  float* const scores = (float*)memory + warp * kKeys;
  if (query >= (uint32)kQueries) return;
  const uint32 item = quotient(query, kRows);
  const int row = (int)(query - item * kRows.divisor);
  const Places at = places_of(p, item);
  int seen = kKeys;
  int past = kPast;
  if (kHasLast) {
    const int last = kLast[at.last];
    seen = last + 1 < seen ? last + 1 : seen;
    if (kEndsWithLast) past = last + 1 - (int)kRows.divisor;
  }
  if (kIsCausal && past + row + 1 < seen) seen = past + row + 1;
  if (seen < 0) seen = 0;

  float largest = -kInfinity;
  bool is_hidden = true;  // everything
  const Q* const q = kQ + at.q + (int64)row * kQRow;
  for (int key = lane; key < kKeys; key += 32) {
    float score = -kInfinity;
    if (key < seen) {
      const float sum = key < kPastKeys
                            ? dot(p, q, kQColumn, kPastK + at.past_k + (int64)key * kPastKRow, kPastKColumn)
                            : dot(p, q, kQColumn, kK + at.k + (int64)(key - kPastKeys) * kKRow, kKColumn);
      score = kDivides ? sum / kScaleBy : sum * kScaleBy;
      bool hides = false;
      if (kHasConditions) {
        hides = (kConditions[at.conditions + (int64)row * kConditionsRow + (int64)key * kConditionsColumn] != 0) ==
                (kHiddenWhere != 0);
        if (hides) score = kReplaces ? kHidden : score + kHidden;
      }
      if (kHasMask) {
        const float mask = widened(kMask[at.mask + (int64)row * kMaskRow + (int64)key * kMaskColumn]);
        score += mask;
        hides = hides || mask == -kInfinity;
      }
      is_hidden = is_hidden && (hides && score == -kInfinity);
    }
    scores[key] = score;
    largest = larger(largest, score);
  }
  largest = warp_largest(largest);
  float sum = 0;
  for (int key = lane; key < kKeys; key += 32) {
    // Keys that are not seen count nothing, even where a score is no number.
    const float weight = key < seen ? expf(scores[key] - largest) : 0.0f;
    scores[key] = weight;
    sum += weight;
  }
  sum = warp_sum(sum);
  float share = 1.0f / sum;
  const bool is_nothing = largest == -kInfinity || sum != sum;
  const bool is_zero = (kZeroesNothing && largest == -kInfinity) || (kZeroesNoNumber && is_nothing);
  if (is_zero) share = 0;
  Out* const out = kOut + at.out + (int64)row * kOutRow;
  meet_warp();
  for (int column = lane; column < kWidth; column += 32) {
    float made = 0;
    const int last = is_zero ? 0 : seen, past_last = last < kPastKeys ? last : kPastKeys;
    for (int key = 0; key < past_last; ++key) {
      made += scores[key] * widened(kPastV[at.past_v + (int64)key * kPastVRow + (int64)column * kPastVColumn]);
    }
    const V* const v = kV + at.v + (int64)column * kVColumn;
#pragma unroll 8
    for (int key = kPastKeys; key < last; ++key) made += scores[key] * widened(v[(int64)(key - kPastKeys) * kVRow]);
    out[(int64)column * kOutColumn] = Narrow<Out>::of(is_zero ? 0.0f : made * share);
  }
}
