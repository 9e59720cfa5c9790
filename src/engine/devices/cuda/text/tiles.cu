// Products of matrices, and convolutions over pictures with channels last as such products: tiles of kRows by kColumns
// results a block, from tiles of the operands that go through shared memory in kStages turns (tile_pieces.cu, tile_sums.cu). Given by
// the writer: T, the element; kIsFloat, or kProducts of TF32 for one of float32; kRows, kColumns, kDepth (of a step),
// kWarpRows, kWarpColumns, kWarpDepth, kThreads, kStages; how operands lie: kIsWindow, of kTapsX by kTapsY, kStepInTap (a step of
// the depth stays in one place of the window), kLeftPacks, kRightPacks, kIsStraight (both, and only rows, columns and
// windows have ends within a step), kWholeSteps (nor has the depth), kRightTurned, kRightIsConstant; kTilePad; kSplits, with `parts` and `counters`; and
// `take(p, work, item, m, n, given)`, which takes results from (m, n) on.

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
