// softmax(q * k * scale + mask) * v on tensor cores: a block takes 16 queries for each of kQueryWarps warps, and all keys
// in tiles, of which each of kKeyWarps warps takes its part; what these find is joined in their order at the end. Product
// is what T becomes there: kIsTf32, or T itself.
#define kStep (32 / (int)sizeof(T))  // of the depth, in one product
#define kPackOfRow (16 / (int)sizeof(T))
#define kQueries (16 * kQueryWarps)
#define kWarpKeys (kKeyTile / kKeyWarps)
#define kKeyColumns (kWarpKeys / 8)
#define kOutColumns (kWidth / 8)
#define kKStride (kDepth + kPad)  // rows that are read at once lie in other banks
#define kVStride (kWidth + kPad)
#define kIsWhole (kBuffers == 1)  // all keys at once, which are multiplied before the values are there
#define kJoinStride (kWidth + 4)  // packs of four lie evenly

// Rows of a matrix into shared memory, with zeros in the place of those that are not there.
DEVICE void load_rows(T* to, int stride, const T* from, int step, int first, int rows, int count, int width) {
  const int packs = width / kPackOfRow;
  for (int i = (int)thread_index(); i < rows * packs; i += kThreads) {
    const int row = i / packs, column = i % packs * kPackOfRow;
    const T* const at = from + (int64)(first + row) * step + column;
    copy_or_fill(to + row * stride + column, first + row < count ? at : nullptr, T());
  }
}

// Four matrices of a product's operand.
DEVICE void load_operand(uint32* to, const T* row) {
  load_four(to, row);
#if kIsTf32
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = rounded_to_tf32(to[i]);
#endif
}
DEVICE uint32 pair_of(float a, float b, half) { return (uint32)half_of_float(a) | (uint32)half_of_float(b) << 16; }
DEVICE uint32 pair_of(float a, float b, bfloat) { return (uint32)bfloat_of_float(a) | (uint32)bfloat_of_float(b) << 16; }

// What a warp knows of its 16 queries so far; a thread has two of them.
struct Found {
  float largest[2], sum[2];
  float out[kOutColumns][4];
};

// The row and the key of a thread's i-th score of column c.
DEVICE int row_of_score(int first_row, int i) { return first_row + (int)thread_index() % 32 / 4 + i / 2 * 8; }
DEVICE int key_of_score(int first_key, int c, int i) { return first_key + c * 8 + (int)thread_index() % 4 * 2 + i % 2; }
// What is beside a thread's scores, which is read while keys are on their way, if they all are.
struct AllBeside {
  Beside of[kKeyColumns][4];
};
DEVICE void read_beside(const Params& p, const Places& at, int first_row, int first_key, const int* seen, AllBeside& all) {
  if (!kIsWhole) return;
#pragma unroll
  for (int c = 0; c < kKeyColumns; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = row_of_score(first_row, i), key = key_of_score(first_key, c, i);
      all.of[c][i] = key < seen[i / 2] ? beside_of(p, at, row, key) : Beside{};
    }
  }
}

DEVICE void add_keys(const Params& p, const Places& at, const uint32 (*q)[4], const T* k, const T* v, int first_row,
                     int first_key, const int* seen, const AllBeside& all, Found& found) {
  const int lane = (int)thread_index() % 32;
  float scores[kKeyColumns][4];
#pragma unroll
  for (int c = 0; c < kKeyColumns; c += 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) scores[c][i] = scores[c + 1][i] = 0;
#pragma unroll
    for (int step = 0; step < kDepth / kStep; ++step) {
      uint32 four[4];
      load_operand(four, k + (c * 8 + lane % 8 + lane / 16 * 8) * kKStride + step * kStep + lane / 8 % 2 * kPackOfRow);
      multiply_add(scores[c], q[step], four, Product());
      multiply_add(scores[c + 1], q[step], four + 2, Product());
    }
  }
  float largest[2] = {found.largest[0], found.largest[1]};
#pragma unroll
  for (int c = 0; c < kKeyColumns; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = row_of_score(first_row, i), key = key_of_score(first_key, c, i);
      const float sum = scores[c][i];
      scores[c][i] = -kInfinity;
      if (key < seen[i / 2]) {
        scores[c][i] = score_of(p, sum, kIsWhole ? all.of[c][i] : beside_of(p, at, row, key));
      }
      largest[i / 2] = larger(largest[i / 2], scores[c][i]);
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    largest[r] = larger(largest[r], from_lane(largest[r], 1));
    largest[r] = larger(largest[r], from_lane(largest[r], 2));
    const float kept = weight_of(found.largest[r], base_of(largest[r]));
    found.largest[r] = largest[r];
    found.sum[r] *= kept;
#pragma unroll
    for (int c = 0; c < kOutColumns; ++c) {
      found.out[c][2 * r] *= kept;
      found.out[c][2 * r + 1] *= kept;
    }
  }
#pragma unroll
  for (int c = 0; c < kKeyColumns; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[c][i] = weight_of(scores[c][i], base_of(largest[i / 2]));
      found.sum[i / 2] += scores[c][i];
    }
  }
  if (kIsWhole) {
    wait_copies<0>();
    meet();
  }
#if kIsTf32
  // A thread has the weights of two neighbouring keys, which are those of a product's two halves.
#pragma unroll
  for (int step = 0; step < kWarpKeys / 8; ++step) {
    const float* const own = scores[step];
    const uint32 weights[4] = {rounded_to_tf32(bits_of_float(own[0])), rounded_to_tf32(bits_of_float(own[2])),
                               rounded_to_tf32(bits_of_float(own[1])), rounded_to_tf32(bits_of_float(own[3]))};
#pragma unroll
    for (int c = 0; c < kOutColumns; ++c) {
      const T* const at = v + (step * 8 + lane % 4 * 2) * kVStride + c * 8 + lane / 4;
      const uint32 two[2] = {rounded_to_tf32(bits_of_float(at[0])), rounded_to_tf32(bits_of_float(at[kVStride]))};
      multiply_add(found.out[c], weights, two, Product());
    }
  }
#else
#pragma unroll
  for (int step = 0; step < kWarpKeys / 16; ++step) {
    const float* const left = scores[2 * step];
    const float* const right = scores[2 * step + 1];
    const uint32 weights[4] = {pair_of(left[0], left[1], T()), pair_of(left[2], left[3], T()),
                               pair_of(right[0], right[1], T()), pair_of(right[2], right[3], T())};
#pragma unroll
    for (int c = 0; c < kOutColumns; c += 2) {
      uint32 four[4];
      load_four_turned(four, v + (step * 16 + lane % 16) * kVStride + c * 8 + lane / 16 * 8);
      multiply_add(found.out[c], weights, four, T());
      multiply_add(found.out[c + 1], weights, four + 2, T());
    }
  }
#endif
}

KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  T* const q = (T*)memory;
  T* const k = q + kQueries * kKStride;
  T* const v = k + kBuffers * kKeyTile * kKStride;
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const int key_warp = warp % kKeyWarps;
  const uint32 item = quotient(block_x(), kTiles);
  const int first_query = (int)(block_x() - item * kTiles.divisor) * kQueries;
  const int first_row = first_query + warp / kKeyWarps * 16;
  const Places at = places_of(p, item);
  const int last_query = first_query + kQueries < kRows ? first_query + kQueries : kRows;
  const int most = seen_by(p, at, last_query - 1);
  const int tiles = (most + kKeyTile - 1) / kKeyTile;

  load_rows(q, kKStride, kQ + at.q, kQRow, first_query, kQueries, kRows, kDepth);
  if (tiles > 0) {
    load_rows(k, kKStride, kK + at.k, kKRow, 0, kKeyTile, kKeys, kDepth);
    if (kIsWhole) end_copies();
    load_rows(v, kVStride, kV + at.v, kVRow, 0, kKeyTile, kKeys, kWidth);
  }
  end_copies();
  const auto seen_there = [&](int row) { return row < kRows ? seen_by(p, at, row) : 0; };
  const int seen[2] = {seen_there(first_row + lane / 4), seen_there(first_row + lane / 4 + 8)};
  Found found = {{-kInfinity, -kInfinity}, {0, 0}, {}};
  AllBeside beside;
  read_beside(p, at, first_row, key_warp * kWarpKeys, seen, beside);
  uint32 queries[kDepth / kStep][4];
  for (int tile = 0; tile < tiles; ++tile) {
    const int now = tile % kBuffers, next = (tile + 1) % kBuffers;
    if (tile + 1 < tiles) {
      const int first = (tile + 1) * kKeyTile;
      load_rows(k + next * kKeyTile * kKStride, kKStride, kK + at.k, kKRow, first, kKeyTile, kKeys, kDepth);
      load_rows(v + next * kKeyTile * kVStride, kVStride, kV + at.v, kVRow, first, kKeyTile, kKeys, kWidth);
    }
    if (!kIsWhole) end_copies();
    wait_copies<1>();
    meet();
    if (tile == 0) {
#pragma unroll
      for (int step = 0; step < kDepth / kStep; ++step) {
        const T* const row = q + (warp / kKeyWarps * 16 + lane % 16) * kKStride;
        load_operand(queries[step], row + step * kStep + lane / 16 * kPackOfRow);
      }
    }
    const int keys = key_warp * kWarpKeys;
    add_keys(p, at, queries, k + (now * kKeyTile + keys) * kKStride, v + (now * kKeyTile + keys) * kVStride, first_row,
             tile * kKeyTile + keys, seen, beside, found);
    meet();
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    found.sum[r] += from_lane(found.sum[r], 1);
    found.sum[r] += from_lane(found.sum[r], 2);
  }
#if kKeyWarps == 1
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + lane / 4 + r * 8;
    if (row >= kRows) continue;
    const float share = share_of(found.largest[r], found.sum[r]);
    Out* const out = kOut + at.out + (int64)row * kOutRow + lane % 4 * 2;
#pragma unroll
    for (int c = 0; c < kOutColumns; ++c) {
      const Pack<Out, 2> pair = {shared_out(found.out[c][2 * r], share), shared_out(found.out[c][2 * r + 1], share)};
      store_pack<Out, 2>(out + c * 8, pair);
    }
  }
#else
  wait_copies<0>();
  meet();
  float* const join = (float*)memory;  // by warp and row: results, their sum and their greatest number
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float* const mine = join + (warp * 16 + lane / 4 + r * 8) * kJoinStride;
#pragma unroll
    for (int c = 0; c < kOutColumns; ++c) {
      *(Pack<float, 2>*)(mine + c * 8 + lane % 4 * 2) = {found.out[c][2 * r], found.out[c][2 * r + 1]};
    }
    mine[kWidth] = found.sum[r];
    mine[kWidth + 1] = found.largest[r];
  }
  meet();
  constexpr int kJoined = 8;  // neighbours of a row that a thread joins
  for (int i = (int)thread_index(); i < kQueries * kWidth / kJoined; i += kThreads) {
    const int query = i / (kWidth / kJoined), column = i % (kWidth / kJoined) * kJoined;
    if (first_query + query >= kRows) continue;
    const float* const first = join + (query / 16 * kKeyWarps * 16 + query % 16) * kJoinStride;
    float largest = -kInfinity, sum = 0, made[kJoined] = {};
#pragma unroll
    for (int w = 0; w < kKeyWarps; ++w) largest = larger(largest, first[w * 16 * kJoinStride + kWidth + 1]);
#pragma unroll
    for (int w = 0; w < kKeyWarps; ++w) {
      const float* const part = first + w * 16 * kJoinStride;
      const float kept = weight_of(part[kWidth + 1], base_of(largest));
      sum += part[kWidth] * kept;
#pragma unroll
      for (int e = 0; e < kJoined; e += 4) {
        const Pack<float, 4> four = *(const Pack<float, 4>*)(part + column + e);
#pragma unroll
        for (int f = 0; f < 4; ++f) made[e + f] += four.e[f] * kept;
      }
    }
    const float share = share_of(largest, sum);
    Pack<Out, kJoined> out;
#pragma unroll
    for (int e = 0; e < kJoined; ++e) out.e[e] = shared_out(made[e], share);
    Out* const to = kOut + at.out + (int64)(first_query + query) * kOutRow + column;
    if constexpr (kJoined * sizeof(Out) <= 16) {
      store_pack<Out, kJoined>(to, out);
    } else {
#pragma unroll
      for (int e = 0; e < kJoined; ++e) to[e] = out.e[e];
    }
  }
#endif
}
