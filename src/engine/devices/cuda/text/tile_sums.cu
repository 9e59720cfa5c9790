// Sums of a tile, and the products that are added to them, by threads alone or by warps on tensor cores (for tiles.cu, which
// names what is given). Sum is the type of one.
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
#elif kPromotes
// Tensor cores keep few bits of the sums of float8.
DEVICE void add_product(Sum* sum, const uint32* a, const uint32* b) {
  float made[4] = {0, 0, 0, 0};
  multiply_add(made, a, b, T());
#pragma unroll
  for (int i = 0; i < 4; ++i) sum[i] += made[i];
}
#else
DEVICE void add_product(Sum* sum, const uint32* a, const uint32* b) { multiply_add(sum, a, b, T()); }
#endif
// What a warp multiplies at once: rows and columns of a tile, 32 bytes of the depth, of which a tile has several.
struct Fragments {
  uint32 rows[kTileRows][4], columns[kTileColumns][2];
};
DEVICE void load_fragments(const T* left, const T* right, int step, Fragments& made) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32 % kWarps;
  const int first_row = warp / kWarpColumns * (kRows / kWarpRows), first_column = warp % kWarpColumns * (kColumns / kWarpColumns);
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
DEVICE void add_products(const Fragments& fragments, Sums& sums) {
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) add_product(sums.of[r][c], fragments.rows[r], fragments.columns[c]);
  }
}
// Adds the products of one step; `between` is called once the first elements are on their way to registers: copies into
// shared memory that begin before would hold them up.
template <typename Between>
DEVICE void multiply_tiles(const T* left, const T* right, Sums& sums, Between between) {
#pragma unroll
  for (int turn = 0; turn < kChunks / 2 / kWarpDepth; ++turn) {
    Fragments fragments;
    load_fragments(left, right, turn * kWarpDepth + depth_part(), fragments);
    if (turn == 0) between();
    add_products(fragments, sums);
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
