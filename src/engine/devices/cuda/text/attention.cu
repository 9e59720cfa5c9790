// softmax(q * k * scale + mask) * v: kLanes threads a query, a warp or a block, whose scores lie in shared memory. Of these,
// kKeyLanes share a key.
#define kWarps (kThreads / 32)
#define kGroup (kLanes / kKeyLanes)  // keys at once
// A lane's part of the product of a query and a key, by packs where both have neighbours in their rows.
template <typename A, typename B>
DEVICE float dot(const Params& p, const A* a, int a_step, const B* b, int b_step, int part) {
  float sum = 0;
  if (kPack > 1 && a_step == 1 && b_step == 1) {
#pragma unroll 2
    for (int i = part * kPack; i < kDepth; i += kKeyLanes * kPack) {
      const Pack<A, kPack> x = load_pack<A, kPack>(a + i);
      const Pack<B, kPack> y = load_pack<B, kPack>(b + i);
#pragma unroll
      for (int e = 0; e < kPack; ++e) sum = fmaf(widened(x.e[e]), widened(y.e[e]), sum);
    }
    return sum;
  }
  for (int i = part; i < kDepth; i += kKeyLanes) {
    sum = fmaf(widened(a[(int64)i * a_step]), widened(b[(int64)i * b_step]), sum);
  }
  return sum;
}
// What all lanes of a query have together.
DEVICE void meet_query() {
  if (kLanes == 32) {
    meet_warp();
  } else {
    meet();
  }
}
template <typename Join>
DEVICE float query_joined(float x, float* of_warps, Join join) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x = join(x, from_lane(x, distance));
  if (kLanes == 32) return x;
  meet();
  if (thread_index() % 32 == 0) of_warps[thread_index() / 32] = x;
  meet();
  x = of_warps[0];
  for (int warp = 1; warp < kWarps; ++warp) x = join(x, of_warps[warp]);
  return x;
}
// Adds weighted rows of values, from every `step`-th key on.
template <typename Value>
DEVICE void add_values(const Params& p, const float* weights, const Value* v, int row_step, int key, int last,
                       int step, Pack<float, kValuePack>& made) {
#pragma unroll 4
  for (; key < last; key += step) {
    if (kValuePack > 1) {
      const Pack<Value, kValuePack> row = load_pack<Value, kValuePack>(v + (int64)key * row_step);
#pragma unroll
      for (int e = 0; e < kValuePack; ++e) made.e[e] = fmaf(weights[key], widened(row.e[e]), made.e[e]);
    } else {
      made.e[0] = fmaf(weights[key], widened(v[(int64)key * row_step]), made.e[0]);
    }
  }
}
KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  const int lane = (int)thread_index() % kLanes, own = (int)thread_index() / kLanes;
  const uint32 query = block_x() * (kThreads / kLanes) + (uint32)own;
  const int packs = kWidth / kValuePack, groups = packs < kLanes ? kLanes / packs : 1;
  float* const scores = (float*)memory + own * (kKeys + groups * kWidth + kWarps);
  float* const parts = scores + kKeys;
  float* const of_warps = parts + groups * kWidth;
  if (query >= (uint32)kQueries) return;
  const uint32 item = quotient(query, kQueryRows);
  const int row = (int)(query - item * kQueryRows.divisor);
  const Places at = places_of(p, item);
  const int seen = seen_by(p, at, row);

  float largest = -kInfinity;
  const Q* const q = kQ + at.q + (int64)row * kQRow;
  for (int first = 0; first < kKeys; first += kGroup) {
    const int key = first + lane / kKeyLanes, part = lane % kKeyLanes;
    float sum = 0;
    if (key < seen) {
      sum = key < kPastKeys ? dot(p, q, kQColumn, kPastK + at.past_k + (int64)key * kPastKRow, kPastKColumn, part)
                            : dot(p, q, kQColumn, kK + at.k + (int64)(key - kPastKeys) * kKRow, kKColumn, part);
    }
#pragma unroll
    for (int distance = 1; distance < kKeyLanes; distance *= 2) sum += from_lane(sum, distance);
    if (part != 0 || key >= kKeys) continue;
    const float score = key < seen ? score_of(p, sum, beside_of(p, at, row, key)) : -kInfinity;
    scores[key] = score;
    largest = larger(largest, score);
  }
  largest = query_joined(largest, of_warps, [](float a, float b) { return larger(a, b); });
  meet_query();
  float sum = 0;
  for (int key = lane; key < kKeys; key += kLanes) {
    // Keys that are not seen count nothing, even where a score is no number.
    const float weight = key < seen ? expf(scores[key] - largest) : 0.0f;
    scores[key] = weight;
    sum += weight;
  }
  sum = query_joined(sum, of_warps, [](float a, float b) { return a + b; });
  const float share = share_of(largest, sum);
  meet_query();
  const int last = share == 0 ? 0 : seen, past_last = last < kPastKeys ? last : kPastKeys;
  for (int unit = lane; unit < packs * groups; unit += kLanes) {
    const int column = unit % packs * kValuePack, group = unit / packs;
    Pack<float, kValuePack> made = {};
    add_values(p, scores, kPastV + at.past_v + (int64)column * kPastVColumn, kPastVRow, group, past_last, groups, made);
    add_values(p, scores + kPastKeys, kV + at.v + (int64)column * kVColumn, kVRow, group, last - kPastKeys, groups, made);
    for (int e = 0; e < kValuePack; ++e) parts[group * kWidth + column + e] = made.e[e];
  }
  meet_query();
  Out* const out = kOut + at.out + (int64)row * kOutRow;
  for (int column = lane; column < kWidth; column += kLanes) {
    float made = 0;
    for (int group = 0; group < groups; ++group) made += parts[group * kWidth + column];
    out[(int64)column * kOutColumn] = shared_out(made, share);
  }
}
