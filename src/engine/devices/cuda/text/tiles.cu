// Products of matrices, and convolutions over pictures with channels last as such products: tiles of kRows by kColumns
// results a block, from tiles of the operands that go through shared memory in kStages turns. Given by the writer: T,
// the element; kIsFloat, or kProducts of TF32 for one of float32; kRows, kColumns, kDepth (of a step), kWarpRows, kWarpColumns, kWarpDepth, kStages; how operands lie:
// kIsWindow, kStepInTap (a step of the depth stays in one place of the window), kLeftPacks, kRightPacks, kRightTurned, kRightIsConstant;
// kTilePad; kSplits, with `parts` and `counters`; and `take(p, work, item, m, n, given)`, which takes results from (m, n) on.
#define kWarps (kWarpRows * kWarpColumns)  // of a tile; kWarpDepth such groups share each step of the depth
#define kThreads (32 * kWarps * kWarpDepth)
#define kPack (16 / (int)sizeof(T))
#define kChunks (kDepth / kPack)

// The number of the thread's group.
DEVICE int depth_part() { return kWarpDepth == 1 ? 0 : (int)thread_index() / (32 * kWarps); }
DEVICE int swizzled(int row, int chunk) {
  return kChunks >= 8 ? chunk ^ (row & 7) : kChunks == 4 ? chunk ^ ((row >> 1) & 3) : chunk ^ ((row >> 2) & 1);
}

// A row of the left tile: where a window begins.
struct Row {
  const T* first;
  int y, x;
  bool is_there;
};

DEVICE Row row_of(const Work& work, int row) {
  Row made;
  made.is_there = row < work.rows;
  if (!kIsWindow) {
    made.first = work.left + (int64)row * work.left_row;
    made.y = made.x = 0;
    return made;
  }
  const uint32 image = quotient((uint32)row, work.by_pixels);
  const uint32 pixel = (uint32)row - image * work.by_pixels.divisor;
  const uint32 y = quotient(pixel, work.by_width);
  const uint32 x = pixel - y * work.by_width.divisor;
  made.y = (int)y * work.stride_y - work.pad_top;
  made.x = (int)x * work.stride_x - work.pad_left;
  made.first = work.left + (int64)image * work.height * work.width * work.pixel;
  return made;
}

// The element of a row at a place along the depth; null: there is none, which is a zero.
DEVICE const T* left_at(const Work& work, const Row& row, int k) {
  if (!row.is_there || k >= work.depth) return nullptr;
  if (!kIsWindow) return row.first + (int64)k * work.left_column;
  const uint32 tap = quotient((uint32)k, work.by_channels);
  const int channel = k - (int)(tap * work.by_channels.divisor);
  const uint32 tap_y = quotient(tap, work.by_taps);
  const int y = row.y + (int)tap_y * work.dilation_y;
  const int x = row.x + (int)(tap - tap_y * work.by_taps.divisor) * work.dilation_x;
  if ((uint32)y >= (uint32)work.height || (uint32)x >= (uint32)work.width) return nullptr;
  return row.first + ((int64)y * work.width + x) * work.pixel + channel;
}

DEVICE const T* right_at(const Work& work, int column, int k) {
  if (column >= work.columns || k >= work.depth) return nullptr;
  return work.right + (int64)k * work.right_row + (int64)column * work.right_column;
}

// Neighbours along the depth, one by one, or expanded from codes.
DEVICE Pack<T, kPack> right_pack(const Work& work, int column, int k) {
  Pack<T, kPack> pack;
#if kRightIsCompressed
  for (int first = 0; first < kPack; first += 4) {
    const Pack<float, 4> four = column < work.columns ? four_weights(work.codes, column, k + first) : Pack<float, 4>();
    for (int e = 0; e < 4; ++e) pack.e[first + e] = Narrow<T>::of(four.e[e]);
  }
#else
  for (int e = 0; e < kPack; ++e) {
    const T* const from = right_at(work, column, k + e);
    pack.e[e] = from == nullptr ? T() : *from;
  }
#endif
  return pack;
}

// What a row of the left has where there is no element.
DEVICE T nothing() {
  T zero = {kZeroCode};
  return zero;
}
#if kIsWindow && kStepInTap
// The place of the window that a step looks through.
struct Tap {
  int y, x, channel;
};
DEVICE Tap tap_of(const Work& work, int k) {
  const uint32 tap = quotient((uint32)k, work.by_channels);
  const uint32 y = quotient(tap, work.by_taps);
  return {(int)y * work.dilation_y, (int)(tap - y * work.by_taps.divisor) * work.dilation_x,
          k - (int)(tap * work.by_channels.divisor)};
}
// Where a row looks through the tap; `is_there`: within the picture.
DEVICE const T* left_through(const Work& work, const Row& row, const Tap& tap, bool& is_there) {
  const int y = row.y + tap.y, x = row.x + tap.x;
  is_there = row.is_there && (uint32)y < (uint32)work.height && (uint32)x < (uint32)work.width;
  return row.first + ((int64)y * work.width + x) * work.pixel + tap.channel;
}
#endif

// Bring the tiles of one step into shared memory. `kIsEven`: packs are, where there are packs.
template <bool kIsEven>
DEVICE void load_left(const Work& work, const Row* rows, int k, T* left) {
  const int thread = (int)thread_index();
  const int kLeft = kRows * kChunks;
#if kIsWindow && kStepInTap
  const Tap tap = tap_of(work, k);
#endif
#pragma unroll
  for (int i = 0; i < (kLeft + kThreads - 1) / kThreads; ++i) {
    const int piece = thread + i * kThreads;
    if (kLeft % kThreads != 0 && piece >= kLeft) break;
    const int row = piece / kChunks, chunk = piece % kChunks;
    T* const to = left + (row * kChunks + swizzled(row, chunk)) * kPack;
    if (kLeftPacks) {
#if kIsWindow && kStepInTap
      bool is_there;
      const T* const from = left_through(work, rows[i], tap, is_there) + chunk * kPack;
#elif kIsWindow
      const T* const from = left_at(work, rows[i], k + chunk * kPack);
      const bool is_there = from != nullptr;
#else
      const T* const from = rows[i].first + (k + chunk * kPack);
      const bool is_there = rows[i].is_there && k + chunk * kPack < work.depth;
#endif
      if (kIsEven && kZeroCode == 0) {
        copy_or_zero(to, is_there ? from : work.left, is_there);
      } else {
        copy_or_fill(to, is_there ? from : nullptr, nothing());
      }
    } else {
      Pack<T, kPack> pack;
      for (int e = 0; e < kPack; ++e) {
        const T* const from = left_at(work, rows[i], k + chunk * kPack + e);
        pack.e[e] = from == nullptr ? nothing() : *from;
      }
      *(Pack<T, kPack>*)to = pack;
    }
  }
}
template <bool kIsEven>
DEVICE void load_right(const Work& work, const T* const* columns, int first_column, int k, T* right) {
  const int thread = (int)thread_index();
  const int kRight = kColumns * kChunks;
#pragma unroll
  for (int i = 0; i < (kRight + kThreads - 1) / kThreads; ++i) {
    const int piece = thread + i * kThreads;
    if (kRight % kThreads != 0 && piece >= kRight) break;
    // Where columns are neighbours in memory, threads that are neighbours read them.
    const int row = kRightTurned ? piece % kColumns : piece / kChunks;
    const int chunk = kRightTurned ? piece / kColumns : piece % kChunks;
    T* const to = right + (row * kChunks + swizzled(row, chunk)) * kPack;
    if (kRightPacks) {
      const bool is_there = columns[i] != nullptr && k + chunk * kPack < work.depth;
      const T* const from = is_there ? columns[i] + (k + chunk * kPack) : work.right;
      if (kIsEven) {
        copy_or_zero(to, from, is_there);
      } else {
        copy_or_fill(to, is_there ? from : nullptr, T());
      }
    } else {
      *(Pack<T, kPack>*)to = right_pack(work, first_column + row, k + chunk * kPack);
    }
  }
}

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
DEVICE void multiply_tiles(const T* left, const T* right, Sums& sums) {
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
DEVICE void multiply_tiles(const T* left, const T* right, Sums& sums) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32 % kWarps;
  const int first_row = warp / kWarpColumns * (kRows / kWarpRows), first_column = warp % kWarpColumns * (kColumns / kWarpColumns);
#pragma unroll
  for (int turn = 0; turn < kChunks / 2 / kWarpDepth; ++turn) {
    const int step = turn * kWarpDepth + depth_part();
    uint32 b[kTileColumns][2];
#pragma unroll
    for (int c = 0; c < kTileColumns; c += 2) {  // two tiles of eight columns at once
      const int at = first_column + c * 8 + lane % 8 + lane / 16 * 8, chunk = step * 2 + lane / 8 % 2;
      uint32 four[4];
      load_four(four, right + (at * kChunks + swizzled(at, chunk)) * kPack);
      b[c][0] = four[0];
      b[c][1] = four[1];
      b[c + 1][0] = four[2];
      b[c + 1][1] = four[3];
    }
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
      const int at = first_row + r * 16 + lane % 16, chunk = step * 2 + lane / 16;
      uint32 a[4];
      load_four(a, left + (at * kChunks + swizzled(at, chunk)) * kPack);
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) add_product(sums.of[r][c], a, b[c]);
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

template <bool kIsEven>
DEVICE void compute(const Params& p, const Work& work, T* shared) {
  const int item = (int)block_z() / kSplits, split = (int)block_z() % kSplits;
  const int first_row = (int)block_x() * kRows, first_column = (int)block_y() * kColumns;
  const int steps = (work.depth + kDepth - 1) / kDepth;
  const int begin = steps * split / kSplits, end = steps * (split + 1) / kSplits;
  const int kLeft = kRows * kDepth, kStage = (kRows + kColumns) * kDepth;

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
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (begin + stage < end) load_right<kIsEven>(work, columns, first_column, (begin + stage) * kDepth, shared + stage * kStage + kLeft);
  }
  if (kRightIsConstant) AFTER_THE_ONE_BEFORE();
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (begin + stage < end) load_left<kIsEven>(work, rows, (begin + stage) * kDepth, shared + stage * kStage);
    end_copies();
  }
  Sums sums;
  clear(sums);
  for (int step = begin; step < end; ++step) {
    wait_copies<kStages - 2>();
    meet();
    const int next = step + kStages - 1;
    if (next < end) {
      const int stage = (next - begin) % kStages;
      load_left<kIsEven>(work, rows, next * kDepth, shared + stage * kStage);
      load_right<kIsEven>(work, columns, first_column, next * kDepth, shared + stage * kStage + kLeft);
    }
    end_copies();
    const int stage = (step - begin) % kStages;
    multiply_tiles(shared + stage * kStage, shared + stage * kStage + kLeft, sums);
  }
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
