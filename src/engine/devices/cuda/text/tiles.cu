// Products of matrices, and convolutions over pictures with channels last as such products: tiles of kRows by kColumns
// results a block, from tiles of the operands that go through shared memory in kStages turns (tile_pieces.cu). Given by
// the writer: T, the element; kIsFloat, or kProducts of TF32 for one of float32; kRows, kColumns, kDepth (of a step),
// kWarpRows, kWarpColumns, kWarpDepth, kStages; how operands lie: kIsWindow, of kTapsX by kTapsY, kStepInTap (a step of
// the depth stays in one place of the window), kLeftPacks, kRightPacks, kIsStraight (both, and only rows, columns and
// windows have ends within a step), kWholeSteps (nor has the depth), kRightTurned, kRightIsConstant; kTilePad; kSplits, with `parts` and `counters`; and
// `take(p, work, item, m, n, given)`, which takes results from (m, n) on.

#if kIsFloat
// Each thread has kThreadRows rows, kRowThreads apart, and kThreadColumns columns.
#define kRowThreads (kThreads / 16)
#define kThreadRows (kRows / kRowThreads)
#define kThreadColumns (kColumns / 16)
struct Sums {
  float of[kThreadRows][kThreadColumns];
};
DEVICE void clear(Sums& sums) {
#pragma unroll
  for (int r = 0; r < kThreadRows; ++r) {
#pragma unroll
    for (int c = 0; c < kThreadColumns; ++c) sums.of[r][c] = 0;
  }
}
// Adds the products of one step; `between` is called once the first elements are on their way to registers.
template <typename Between>
DEVICE void multiply_tiles(const T* left, const T* right, Sums& sums, Between between) {
  between();
  const int row = (int)thread_index() / 16, column = (int)thread_index() % 16;
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    Pack<float, 4> b[kThreadColumns];
#pragma unroll
    for (int c = 0; c < kThreadColumns; ++c) {
      const int at = column + c * 16;
      b[c] = *(const Pack<float, 4>*)(right + (at * kChunks + swizzled(at, chunk)) * kPack);
    }
#pragma unroll
    for (int r = 0; r < kThreadRows; ++r) {
      const int at = row + r * kRowThreads;
      const Pack<float, 4> a = *(const Pack<float, 4>*)(left + (at * kChunks + swizzled(at, chunk)) * kPack);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int c = 0; c < kThreadColumns; ++c) sums.of[r][c] = fmaf(a.e[e], b[c].e[e], sums.of[r][c]);
      }
    }
  }
}
// Calls take(row, column, sum) for each sum of the thread.
template <typename Take>
DEVICE void for_sums(Sums& sums, Take take) {
  const int row = (int)thread_index() / 16, column = (int)thread_index() % 16;
#pragma unroll
  for (int r = 0; r < kThreadRows; ++r) {
#pragma unroll
    for (int c = 0; c < kThreadColumns; ++c) take(row + r * kRowThreads, column + c * 16, sums.of[r][c]);
  }
}
#else
#define kTileRows (kRows / kWarpRows / 16)
#define kTileColumns (kColumns / kWarpColumns / 8)
struct Sums {
  Sum of[kTileRows][kTileColumns][4];
};
DEVICE void clear(Sums& sums) {
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums.of[r][c][i] = 0;
    }
  }
}
#if kProducts == 3
// The eleven leading bits of float32, and of what they leave; infinity leaves nothing.
DEVICE void part(const uint32* x, int count, uint32* high, uint32* low) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    high[i] = x[i] & 0xffffe000u;
    const float left = float_of_bits(x[i]) - float_of_bits(high[i]);
    low[i] = (x[i] & 0x7fffffffu) == 0x7f800000u ? 0 : bits_of_float(left);
  }
}
// Tensor cores cut what they add to a sum off: only three products are added there, and these are rounded.
DEVICE void add_product(Sum* sum, const uint32* a, const uint32* b) {
  uint32 a_high[4], a_low[4], b_high[2], b_low[2];
  part(a, 4, a_high, a_low);
  part(b, 2, b_high, b_low);
  float made[4] = {0, 0, 0, 0};
  multiply_add(made, a_low, b_high, Tf32());
  multiply_add(made, a_high, b_low, Tf32());
  multiply_add(made, a_high, b_high, Tf32());
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] += made[i];
}
#elif kProducts == 1
DEVICE void add_product(Sum* sum, const uint32* a, const uint32* b) {
  uint32 a_near[4], b_near[2];
#pragma unroll
  for (int i = 0; i < 4; ++i) a_near[i] = rounded_to_tf32(a[i]);
#pragma unroll
  for (int i = 0; i < 2; ++i) b_near[i] = rounded_to_tf32(b[i]);
  multiply_add(sum, a_near, b_near, Tf32());
}
#else
DEVICE void add_product(Sum* sum, const uint32* a, const uint32* b) { multiply_add(sum, a, b, T()); }
#endif
// What a warp multiplies at once: rows and columns of a tile, 32 bytes of the depth.
struct Fragments {
  uint32 rows[kTileRows][4], columns[kTileColumns][2];
};
DEVICE void load_fragments(const T* left, const T* right, int turn, Fragments& made) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32 % kWarps;
  const int first_row = warp / kWarpColumns * (kRows / kWarpRows), first_column = warp % kWarpColumns * (kColumns / kWarpColumns);
  const int step = turn * kWarpDepth + depth_part();
#pragma unroll
  for (int c = 0; c < kTileColumns; c += 2) {  // two tiles of eight columns at once
    const int at = first_column + c * 8 + lane % 8 + lane / 16 * 8, chunk = step * 2 + lane / 8 % 2;
    uint32 four[4];
    load_four(four, right + (at * kChunks + swizzled(at, chunk)) * kPack);
    made.columns[c][0] = four[0];
    made.columns[c][1] = four[1];
    made.columns[c + 1][0] = four[2];
    made.columns[c + 1][1] = four[3];
  }
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    const int at = first_row + r * 16 + lane % 16, chunk = step * 2 + lane / 16;
    load_four(made.rows[r], left + (at * kChunks + swizzled(at, chunk)) * kPack);
  }
}
// Adds the products of one step; `between` is called once the first elements are on their way to registers: copies into
// shared memory that begin before would hold them up.
template <typename Between>
DEVICE void multiply_tiles(const T* left, const T* right, Sums& sums, Between between) {
#pragma unroll
  for (int turn = 0; turn < kChunks / 2 / kWarpDepth; ++turn) {
    Fragments fragments;
    load_fragments(left, right, turn, fragments);
    if (turn == 0) between();
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) add_product(sums.of[r][c], fragments.rows[r], fragments.columns[c]);
    }
  }
}
template <typename Take>
DEVICE void for_sums(Sums& sums, Take take) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32 % kWarps;
  const int first_row = warp / kWarpColumns * (kRows / kWarpRows), first_column = warp % kWarpColumns * (kColumns / kWarpColumns);
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        take(first_row + r * 16 + lane / 4 + i / 2 * 8, first_column + c * 8 + lane % 4 * 2 + i % 2, sums.of[r][c][i]);
      }
    }
  }
}
#endif

#if kProducts == 3
// The sum of steps of the depth, once more without tensor cores: infinity by a number of eleven bits is no number there,
// since the rest of that is zero.
DEVICE float exact_sum(const Work& work, int m, int n, int begin, int end) {
  const Row row = row_of(work, m);
  float sum = 0;
  for (int k = begin * kDepth; k < end * kDepth && k < work.depth && sum == sum; ++k) {
    const T* const left = left_at(work, row, k);
    sum = fmaf(left == nullptr ? 0 : *left, *right_at(work, n, k), sum);
  }
  return sum;
}
#endif

// Elements from row to row of a tile of sums.
#define kTileStride (kColumns + kTilePad)

#if kSplits > 1
// Writes the sums of a part of the depth. True for the last block of a tile, whose tile then has the sums of all parts,
// which are always added in the same order.
DEVICE bool adds_parts(const Params& p, int item, int split, Sum* tile) {
  const int number = (item * (int)blocks_y() + (int)block_y()) * (int)blocks_x() + (int)block_x();
  Sum* const all = parts(p) + (int64)number * kSplits * (kRows * kColumns);
  SHARED int is_last;
  for (int i = (int)thread_index() * 4; i < kRows * kColumns; i += kThreads * 4) {
    const Sum* const from = tile + i / kColumns * kTileStride + i % kColumns;
    *(Pack<Sum, 4>*)(all + split * (kRows * kColumns) + i) = *(const Pack<Sum, 4>*)from;
  }
  publish();
  meet();
  if (thread_index() == 0) {
    is_last = add_to(counters(p) + number, 1) == kSplits - 1;
    if (is_last) counters(p)[number] = 0;
  }
  meet();
  if (!is_last) return false;
  publish();
  for (int i = (int)thread_index() * 4; i < kRows * kColumns; i += kThreads * 4) {
    Pack<Sum, 4> sum = *(const Pack<Sum, 4>*)(all + i);
    for (int part = 1; part < kSplits; ++part) {
      const Pack<Sum, 4> more = *(const Pack<Sum, 4>*)(all + part * (kRows * kColumns) + i);
      for (int e = 0; e < 4; ++e) sum.e[e] += more.e[e];
    }
    *(Pack<Sum, 4>*)(tile + i / kColumns * kTileStride + i % kColumns) = sum;
  }
  meet();
  return true;
}
#endif

#define kLeftTile (kRows * kDepth)
#define kAhead (kStages - 1)  // steps whose copies are under way
#define kStageTile ((kRows + kColumns) * kDepth)

#if kIsStraight
// Adds the products of steps. The stages are spelled out, so that their places are known.
DEVICE void add_steps(const Work& work, const Pieces& pieces, int begin, int end, T* shared, Sums& sums) {
  if (!kRightIsConstant) AFTER_THE_ONE_BEFORE();
#pragma unroll
  for (int stage = 0; stage < kAhead; ++stage) {
    if (begin + stage < end) copy_right(work, pieces, (begin + stage) * kDepth, shared + stage * kStageTile + kLeftTile);
  }
  if (kRightIsConstant) AFTER_THE_ONE_BEFORE();
  int k = begin * kDepth;
  Walk walk = walk_from(work, k);
#pragma unroll
  for (int stage = 0; stage < kAhead; ++stage) {
    if (begin + stage < end) copy_left(work, pieces, walk, k, shared + stage * kStageTile);
    next_step(work, walk);
    k += kDepth;
    end_copies();
  }
  for (int step = begin; step < end; step += kStages) {
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      if (step + stage >= end) break;
      wait_copies<kAhead - 1>();
      meet();
      const T* const tile = shared + stage * kStageTile;
      multiply_tiles(tile, tile + kLeftTile, sums, [&] {
        T* const free = shared + (stage + kAhead) % kStages * kStageTile;
        if (step + stage + kAhead < end) {
          copy_left(work, pieces, walk, k, free);
          copy_right(work, pieces, k, free + kLeftTile);
        }
        next_step(work, walk);
        k += kDepth;
        end_copies();
      });
    }
  }
}
#endif

// Adds them wherever their elements lie.
template <bool kIsEven>
DEVICE void add_any_steps(const Work& work, int first_row, int first_column, int begin, int end, T* shared, Sums& sums) {
  Row rows[(kRows * kChunks + kThreads - 1) / kThreads];
#pragma unroll
  for (int i = 0; i < (kRows * kChunks + kThreads - 1) / kThreads; ++i) {
    rows[i] = row_of(work, first_row + ((int)thread_index() + i * kThreads) / kChunks);
  }
  const T* columns[(kColumns * kChunks + kThreads - 1) / kThreads];
#pragma unroll
  for (int i = 0; i < (kColumns * kChunks + kThreads - 1) / kThreads; ++i) {
    const int column = first_column + ((int)thread_index() + i * kThreads) / kChunks;
    columns[i] = column < work.columns ? work.right + (int64)column * work.right_column : nullptr;
  }
  if (!kRightIsConstant) AFTER_THE_ONE_BEFORE();
#pragma unroll
  for (int stage = 0; stage < kAhead; ++stage) {
    if (begin + stage < end) load_right<kIsEven>(work, columns, first_column, (begin + stage) * kDepth, shared + stage * kStageTile + kLeftTile);
  }
  if (kRightIsConstant) AFTER_THE_ONE_BEFORE();
#pragma unroll
  for (int stage = 0; stage < kAhead; ++stage) {
    if (begin + stage < end) load_left<kIsEven>(work, rows, (begin + stage) * kDepth, shared + stage * kStageTile);
    end_copies();
  }
  for (int step = begin; step < end; ++step) {
    wait_copies<kAhead - 1>();
    meet();
    const T* const tile = shared + (step - begin) % kStages * kStageTile;
    multiply_tiles(tile, tile + kLeftTile, sums, [&] {
      const int next = step + kAhead;
      if (next < end) {
        T* const free = shared + (next - begin) % kStages * kStageTile;
        load_left<kIsEven>(work, rows, next * kDepth, free);
        load_right<kIsEven>(work, columns, first_column, next * kDepth, free + kLeftTile);
      }
      end_copies();
    });
  }
}

template <bool kIsEven>
DEVICE void compute(const Params& p, const Work& work, T* shared) {
  const int item = (int)block_z() / kSplits, split = (int)block_z() % kSplits;
  const int first_row = (int)block_x() * kRows, first_column = (int)block_y() * kColumns;
  const int steps = (work.depth + kDepth - 1) / kDepth;
  const int begin = steps * split / kSplits, end = steps * (split + 1) / kSplits;
  Sums sums;
  clear(sums);
#if kIsStraight
  if (kIsEven) {
    add_steps(work, pieces_of(work, first_row, first_column), begin, end, shared, sums);
  } else {
    add_any_steps<kIsEven>(work, first_row, first_column, begin, end, shared, sums);
  }
#else
  add_any_steps<kIsEven>(work, first_row, first_column, begin, end, shared, sums);
#endif
#if kProducts == 3
  for_sums(sums, [&](int row, int column, Sum& sum) {
    const int m = first_row + row, n = first_column + column;
    if (sum != sum && m < work.rows && n < work.columns) sum = exact_sum(work, m, n, begin, end);
  });
#endif
  wait_copies<0>();
  meet();
  Sum* const tile = (Sum*)shared;  // whose threads take neighbours from it
#pragma unroll
  for (int part = 0; part < kWarpDepth; ++part) {
    if (depth_part() == part) {
      for_sums(sums, [&](int row, int column, Sum sum) {
        Sum* const at = tile + row * kTileStride + column;
        *at = part == 0 ? sum : *at + sum;
      });
    }
    meet();
  }
#if kSplits > 1
  if (!adds_parts(p, item, split, tile)) return;
#endif
  for (int i = (int)thread_index(); i < kRows * kColumns / kTaken; i += kThreads) {
    const int row = i / (kColumns / kTaken), column = i % (kColumns / kTaken) * kTaken;
    const int m = first_row + row, n = first_column + column;
    if (m < work.rows && n < work.columns) take(p, work, item, m, n, *(const Pack<Sum, kTaken>*)(tile + row * kTileStride + column));
  }
}

// True if packs of both operands begin where they can be moved at once.
DEVICE bool has_even_packs(const Work& work) {
  return (!kLeftPacks || is_even<T, kPack>(work.left)) && (!kRightPacks || is_even<T, kPack>(work.right));
}

EARLY_KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  const Work work = work_of(p, (int)block_z() / kSplits);
  if (has_even_packs(work)) {
    compute<true>(p, work, (T*)memory);
  } else {
    compute<false>(p, work, (T*)memory);
  }
}
