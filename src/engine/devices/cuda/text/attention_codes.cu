// Attention of codes: a warp a query, whose scores lie in shared memory, then its weights as codes. Sums of products are
// whole numbers; `changed` makes a score of another.
#define kWarps (kThreads / 32)
KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const uint32 query = block_x() * kWarps + (uint32)warp;
  float* const scores = (float*)memory + warp * kKeys;
  if (query >= (uint32)kQueries) return;
  const uint32 item = quotient(query, kRows);
  const int row = (int)(query - item * kRows.divisor);
  const Places at = places_of(p, item);
  const Q* const q = kQ + at.q + (int64)row * kQRow;
  const int q_zero = kQZero, k_zero = kKZero, v_zero = kVZero;

  float largest = -kInfinity;
  for (int key = lane; key < kKeys; key += 32) {
    const K* const k = kK + at.k + (int64)key * kKRow;
    int sum = 0;
    for (int i = 0; i < kDepth; ++i) sum += ((int)q[(int64)i * kQColumn] - q_zero) * ((int)k[(int64)i * kKColumn] - k_zero);
    scores[key] = changed(p, at, row, key, (float)sum * kFactor);
    largest = larger(largest, scores[key]);
  }
  largest = warp_largest(largest);
  float sum = 0;
  for (int key = lane; key < kKeys; key += 32) {
    scores[key] = expf(scores[key] - largest);
    sum += scores[key];
  }
  const float share = 1.0f / warp_sum(sum);
  for (int key = lane; key < kKeys; key += 32) {
    const float code = rintf(bounded(scores[key] * share / kWeightScale, kWeightLeast, kWeightLeast + 255.0f));
    scores[key] = (code == code ? code : kWeightLeast) + kWeightShift;
  }
  meet_warp();
  for (int column = lane; column < kWidth; column += 32) {
    const V* const v = kV + at.v + (int64)column * kVColumn;
    int made = 0;
#pragma unroll 4
    for (int key = 0; key < kKeys; ++key) made += (int)scores[key] * ((int)v[(int64)key * kVRow] - v_zero);
    const float number = (float)made * kResultFactor;
#if kGivesCodes
    const float code = rintf(bounded(number, kResultLeast, kResultLeast + 255.0f));
    kOut[at.out + (int64)row * kOutRow + (int64)column * kOutColumn] = (Out)((int)code + kResultZero);
#else
    kOut[at.out + (int64)row * kOutRow + (int64)column * kOutColumn] = Narrow<Out>::of(number);
#endif
  }
}
