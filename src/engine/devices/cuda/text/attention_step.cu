// softmax(q * k * scale + mask) * v of few queries. A block has kTake queries that share their keys (x), and a part of
// the keys (y). kLanes lanes of a warp share a key and its value, of which each reads a pack; kFlight keys of each such
// group are on their way before the first is looked at. What groups, warps and blocks find is joined in their order, that
// of blocks by the one that ends last (kIsSplit). Blocks with the first queries also write the keys (kKeepsKeys) and
// values (kKeepsValues) that they read into those of the past and of this run together.
#define kPack 8
#define kWarps (kThreads / 32)
#define kGroups (kThreads / kLanes)
#define kMostParts 32

// Weights of a part's numbers.
DEVICE float part_weight(float score, float base) {
  return sizeof(T) == sizeof(float) ? expf(score - base) : weight_of(score, base);
}

struct Query {
  Places at;
  int row;
  bool is_there;
};
// Query `number` of those that share keys; the last one if there are not so many.
DEVICE Query query_of(const Params& p, uint32 set, int number) {
  Query query;
  query.is_there = number < kSetQueries;
  const uint32 known = (uint32)(query.is_there ? number : kSetQueries - 1), head = quotient(known, kQueryRows);
  query.row = (int)(known - head * kQueryRows.divisor);
  query.at = places_of(p, set * (uint32)kSharing + head);
  return query;
}

// Rows of keys, or of values: of the past, of this run as if the past were in front of them, and of both together.
struct Rows {
  const T* past;
  const T* fresh;
  T* kept;
  uint32 past_step, fresh_step, kept_step;
};
DEVICE bool begins_evenly(const Rows& rows) {
  return is_even<T, kPack>(rows.past) && is_even<T, kPack>(rows.fresh) && is_even<T, kPack>(rows.kept);
}
// The lane's packs of rows that are kGroups apart; zeros behind `end`, which is 0 for lanes that have no pack.
template <bool kIsEven>
DEVICE void load_rows(const Params& p, const Rows& rows, int first, int end, int column, Raw<T, kPack>* to) {
#pragma unroll
  for (int f = 0; f < kFlight; ++f) {
    const int row = first + f * kGroups;
    const bool is_past = row < kPastKeys;
    const uint32 at = (uint32)row * (is_past ? rows.past_step : rows.fresh_step) + (uint32)column;
    to[f] = row < end ? load_raw<T, kPack>((is_past ? rows.past : rows.fresh) + at, kIsEven) : Raw<T, kPack>{};
  }
}
template <bool kIsEven>
DEVICE void keep_rows(const Rows& rows, int first, int end, int column, const Raw<T, kPack>* from) {
#pragma unroll
  for (int f = 0; f < kFlight; ++f) {
    const int row = first + f * kGroups;
    T* const to = rows.kept + ((uint32)row * rows.kept_step + (uint32)column);
    if (row >= end) continue;
    if (kIsEven) {
      *(Raw<T, kPack>*)to = from[f];
    } else {
      store_pack<T, kPack>(to, unpacked<T, kPack>(from[f]));
    }
  }
}

// What is known of a query so far: its greatest score, and the weights and weighted values without that.
struct Found {
  float largest, sum;
  float out[kPack];
};

DEVICE float product_of(const float* a, const float* b) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kPack; ++e) sum = fmaf(a[e], b[e], sum);
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) sum += from_lane(sum, distance);
  return sum;
}
DEVICE void widen(const Raw<T, kPack>& raw, float* to) {
  const Pack<T, kPack> pack = unpacked<T, kPack>(raw);
#pragma unroll
  for (int e = 0; e < kPack; ++e) to[e] = widened(pack.e[e]);
}

// What is beside the scores of keys that are kGroups apart.
DEVICE void load_beside(const Params& p, const Query* queries, const int* seen, int first, Beside (*to)[kFlight]) {
#pragma unroll
  for (int f = 0; f < kFlight; ++f) {
    const int key = first + f * kGroups;
#pragma unroll
    for (int t = 0; t < kTake; ++t) {
      to[t][f] = key < seen[t] ? beside_of(p, queries[t].at, queries[t].row, key) : Beside{};
    }
  }
}
// Adds the keys of a group of lanes to what it has found of a query. Keys that the query does not see count nothing,
// even where they are no numbers; where all queries see the same keys (kSeeAlike), values of others are zeros here.
DEVICE void add_values(const float* scores, int first, int seen, const float (*values)[kPack], Found& found) {
  float largest = found.largest;
#pragma unroll
  for (int f = 0; f < kFlight; ++f) largest = larger(largest, scores[f]);
  const float base = base_of(largest), kept = part_weight(found.largest, base);
  found.largest = largest;
  found.sum *= kept;
#pragma unroll
  for (int e = 0; e < kPack; ++e) found.out[e] *= kept;
#pragma unroll
  for (int f = 0; f < kFlight; ++f) {
    const float weight = part_weight(scores[f], base);
    if (!kSeeAlike && first + f * kGroups >= seen) continue;
    found.sum += weight;
#pragma unroll
    for (int e = 0; e < kPack; ++e) found.out[e] = fmaf(weight, values[f][e], found.out[e]);
  }
}

// Adds the keys from `begin` to `end`; `keeps`: writes them, too. Those of the next turn are on their way as soon as
// those of this one are used, and the first ones before the queries are looked at.
template <bool kIsEven>
DEVICE void add_keys(const Params& p, const Rows& k, const Rows& v, const Query* queries, const int* seen, int begin,
                     int end, bool keeps, Found* found) {
  constexpr int kWarpGroups = 32 / kLanes;
  const int column = (int)thread_index() % kLanes * kPack;
  const int key_end = column < kDepth ? end : 0, value_end = column < kWidth ? end : 0;
  int warp_first = begin + (int)thread_index() / 32 * kWarpGroups;
  int first = warp_first + (int)thread_index() % 32 / kLanes;
  Raw<T, kPack> query_packs[kTake], keys[kFlight], values[kFlight];
  Beside beside[kTake][kFlight];
#pragma unroll
  for (int t = 0; t < kTake; ++t) {
    const Q* const row = kQ + queries[t].at.q + (int64)queries[t].row * kQRow + column;
    query_packs[t] = column < kDepth ? load_raw<T, kPack>(row, kIsEven) : Raw<T, kPack>{};
  }
  load_rows<kIsEven>(p, k, first, key_end, column, keys);
  load_beside(p, queries, seen, first, beside);
  load_rows<kIsEven>(p, v, first, value_end, column, values);
  float q[kTake][kPack];
#pragma unroll
  for (int t = 0; t < kTake; ++t) widen(query_packs[t], q[t]);
  while (warp_first < end) {
    const int next = first + kGroups * kFlight;
    float scores[kTake][kFlight], wide[kFlight][kPack];
#pragma unroll
    for (int f = 0; f < kFlight; ++f) {
      widen(keys[f], wide[f]);
#pragma unroll
      for (int t = 0; t < kTake; ++t) {
        const float sum = product_of(q[t], wide[f]);
        scores[t][f] = first + f * kGroups < seen[t] ? score_of(p, sum, beside[t][f]) : -kInfinity;
      }
    }
    if (kKeepsKeys && keeps) keep_rows<kIsEven>(k, first, key_end, column, keys);
    load_rows<kIsEven>(p, k, next, key_end, column, keys);
    load_beside(p, queries, seen, next, beside);
#pragma unroll
    for (int f = 0; f < kFlight; ++f) {
      widen(values[f], wide[f]);
#pragma unroll
      for (int e = 0; e < kPack; ++e) wide[f][e] = kSeeAlike && first + f * kGroups >= seen[0] ? 0.0f : wide[f][e];
    }
    if (kKeepsValues && keeps) keep_rows<kIsEven>(v, first, value_end, column, values);
    load_rows<kIsEven>(p, v, next, value_end, column, values);
#pragma unroll
    for (int t = 0; t < kTake; ++t) add_values(scores[t], first, seen[t], wide, found[t]);
    first = next;
    warp_first += kGroups * kFlight;
  }
}

// Joins what the groups of a warp have found, of which the first gives it to the other warps.
DEVICE void join_groups(const Found* found, float* parts, float* largest, float* sums) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
#pragma unroll
  for (int t = 0; t < kTake; ++t) {
    Found all = found[t];
#pragma unroll
    for (int distance = kLanes; distance < 32; distance *= 2) {
      all.largest = larger(all.largest, from_lane(all.largest, distance));
    }
    const float kept = part_weight(found[t].largest, base_of(all.largest));
    all.sum *= kept;
#pragma unroll
    for (int distance = kLanes; distance < 32; distance *= 2) all.sum += from_lane(all.sum, distance);
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      all.out[e] *= kept;
#pragma unroll
      for (int distance = kLanes; distance < 32; distance *= 2) all.out[e] += from_lane(all.out[e], distance);
      if (lane * kPack < kWidth && lane < kLanes) parts[(warp * kTake + t) * kWidth + lane * kPack + e] = all.out[e];
    }
    if (lane == 0) {
      largest[warp * kTake + t] = all.largest;
      sums[warp * kTake + t] = all.sum;
    }
  }
}

// So many threads make the results of each query: neighbours in a row, at most 16 bytes at once.
#define kQueryThreads (kThreads / kTake)
#define kOwnPack (kWidth >= 4 * kQueryThreads ? 4 : kWidth >= 2 * kQueryThreads ? 2 : 1)
typedef Pack<float, kOwnPack> Own;

// The sum of `count` parts of a row, weighted.
template <typename Weight>
DEVICE Own added(const float* parts, int count, Weight weight) {
  Own made = {};
#pragma unroll 16
  for (int i = 0; i < count; ++i) {
    const Own part = *(const Own*)(parts + (int64)i * (kTake * kWidth));
#pragma unroll
    for (int e = 0; e < kOwnPack; ++e) made.e[e] = fmaf(weight(i), part.e[e], made.e[e]);
  }
  return made;
}

// What the parts of a query that warps have found are multiplied by before they are added; its greatest score and the sum
// of its weights.
struct Joined {
  float weights[kWarps];
  float largest, sum;
};
DEVICE Joined join_warps(const float* largest, const float* sums) {
  Joined joined = {{}, -kInfinity, 0};
#pragma unroll
  for (int w = 0; w < kWarps; ++w) joined.largest = larger(joined.largest, largest[w * kTake]);
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    joined.weights[w] = part_weight(largest[w * kTake], base_of(joined.largest));
    joined.sum = fmaf(sums[w * kTake], joined.weights[w], joined.sum);
  }
  return joined;
}

#if kIsSplit
// The same of the parts that blocks have found, for all queries of the block; a warp a query, a lane a part.
struct BlocksJoined {
  float weights[kMostParts * kTake];
  float largest[kTake], sums[kTake];
};
DEVICE void join_blocks(const float* largest, const float* sums, int count, BlocksJoined& joined) {
  const int lane = (int)thread_index() % 32;
  for (int t = (int)thread_index() / 32; t < kTake; t += kWarps) {
    const int i = lane * kTake + t;
    const float mine = lane < count ? largest[i] : -kInfinity, part = lane < count ? sums[i] : 0.0f;
    const float all = warp_largest(mine), weight = part_weight(mine, base_of(all));
    const float sum = warp_sum(part * weight);
    joined.weights[i] = weight;
    if (lane != 0) continue;
    joined.largest[t] = all;
    joined.sums[t] = sum;
  }
  meet();
}

// True for the last of the blocks that share keys, which then sees what the others have written.
DEVICE bool ends_last(int* counter) {
  SHARED int is_last;
  publish();
  meet();
  if (thread_index() == 0) {
    is_last = add_to(counter, 1) == (int)blocks_y() - 1;
    if (is_last) *counter = 0;
  }
  meet();
  if (is_last) publish();
  return is_last;
}
#endif

RESIDENT_KERNEL(kThreads, kResident) {
  DYNAMIC_SHARED(memory);
  float* const parts = (float*)memory;
  float* const largest = parts + kWarps * kTake * kWidth;
  float* const sums = largest + kWarps * kTake;

  const uint32 set = quotient(block_x(), kChunks);
  const int first_query = (int)(block_x() - set * kChunks.divisor) * kTake;
  Query queries[kTake];
#pragma unroll
  for (int t = 0; t < kTake; ++t) queries[t] = query_of(p, set, first_query + t);
  const Places& at = queries[0].at;
  const Rows k = {(const T*)kPastK + at.past_k, kK + at.k - (int64)kPastKeys * kKRow, (T*)kKeptK + at.kept_k,
                  (uint32)kPastKRow, (uint32)kKRow, (uint32)kKeptKRow};
  const Rows v = {(const T*)kPastV + at.past_v, kV + at.v - (int64)kPastKeys * kVRow, (T*)kKeptV + at.kept_v,
                  (uint32)kPastVRow, (uint32)kVRow, (uint32)kKeptVRow};
  const bool are_even = kStepsAreEven && is_even<T, kPack>(kQ) && begins_evenly(k) && begins_evenly(v);
  const int own = kTake == 1 ? 0 : (int)thread_index() / kQueryThreads;
  const int own_column = (int)thread_index() % kQueryThreads * kOwnPack;
  const Query mine = query_of(p, set, first_query + own);
  Out* const out = kOut + mine.at.out + (int64)mine.row * kOutRow;
  LET_THE_NEXT_BEGIN();
  AFTER_THE_ONE_BEFORE();

  const bool keeps = (kKeepsKeys || kKeepsValues) && first_query == 0;
  int seen[kTake], end = keeps ? kKeys : 0;
  Found found[kTake];
#pragma unroll
  for (int t = 0; t < kTake; ++t) {
    seen[t] = seen_by(p, queries[t].at, queries[t].row);
    end = seen[t] > end ? seen[t] : end;
    found[t] = {-kInfinity, 0, {}};
  }
  const int begin = (int)block_y() * kPartKeys;
  end = begin + kPartKeys < end ? begin + kPartKeys : end;
#pragma unroll
  for (int t = 0; t < kTake; ++t) seen[t] = seen[t] < end ? seen[t] : end;
  if (are_even) {
    add_keys<true>(p, k, v, queries, seen, begin, end, keeps, found);
  } else {
    add_keys<false>(p, k, v, queries, seen, begin, end, keeps, found);
  }
  join_groups(found, parts, largest, sums);
  meet();
  Joined joined = join_warps(largest + own, sums + own);
  const auto of_warp = [&](int i) { return joined.weights[i]; };
#if kIsSplit
  BlocksJoined& all_joined = *(BlocksJoined*)memory;
  float* const all = kParts + (int64)block_x() * blocks_y() * (kTake * kWidth);
  float* const all_largest = kPartFacts + (int64)block_x() * blocks_y() * (2 * kTake);
  float* const all_sums = all_largest + blocks_y() * kTake;
  for (int column = own_column; column < kWidth; column += kQueryThreads * kOwnPack) {
    *(Own*)(all + ((int)block_y() * kTake + own) * kWidth + column) =
        added(parts + own * kWidth + column, kWarps, of_warp);
  }
  if (own_column == 0) {
    all_largest[block_y() * kTake + own] = joined.largest;
    all_sums[block_y() * kTake + own] = joined.sum;
  }
  if (!ends_last(kCounters + block_x())) return;
  join_blocks(all_largest, all_sums, (int)blocks_y(), all_joined);
  joined.largest = all_joined.largest[own];
  joined.sum = all_joined.sums[own];
#endif
  if (!mine.is_there) return;
  const float share = share_of(joined.largest, joined.sum);
  for (int column = own_column; column < kWidth; column += kQueryThreads * kOwnPack) {
#if kIsSplit
    const Own made = added(all + own * kWidth + column, (int)blocks_y(),
                           [&](int i) { return all_joined.weights[i * kTake + own]; });
#else
    const Own made = added(parts + own * kWidth + column, kWarps, of_warp);
#endif
#pragma unroll
    for (int e = 0; e < kOwnPack; ++e) out[(int64)(column + e) * kOutColumn] = shared_out(made.e[e], share);
  }
}
