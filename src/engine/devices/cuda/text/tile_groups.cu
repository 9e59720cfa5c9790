// Products of tiles in shared memory by groups of four warps, which read the operands there themselves (for tiles.cu). A
// group has 64 rows at once and all columns of the tile. Given by the writer: `multiply_group(sums, left, right)`, which
// adds the product of 64 rows over 32 bytes of the depth.
#define kGroups (kWarps / 4)
#define kGroupBlocks (kRows / 64 / kGroups)
#define kGroupSums (kColumns / 2)  // of a thread, for 64 rows
struct Sums {
  Sum of[kGroupBlocks][kGroupSums];
};
DEVICE void clear(Sums& sums) {
#pragma unroll
  for (int b = 0; b < kGroupBlocks; ++b) {
#pragma unroll
    for (int i = 0; i < kGroupSums; ++i) sums.of[b][i] = 0;
  }
}
// Adds the products of one step; `between` is called while they are made.
template <typename Between>
DEVICE void multiply_tiles(const T* left, const T* right, Sums& sums, Between between) {
  const int first = (int)thread_index() / 128 % kGroups * kGroupBlocks;
  begin_products();
#pragma unroll
  for (int turn = 0; turn < kChunks / 2 / kWarpDepth; ++turn) {
    const int step = turn * kWarpDepth + depth_part(), chunk = step * 2;
#pragma unroll
    for (int b = 0; b < kGroupBlocks; ++b) {
      const T* const rows = left + (chunk / 8 * kRows + (first + b) * 64) * 8 * kPack + chunk % 8 * kPack;
      multiply_group(sums.of[b], rows, right + chunk / 8 * kColumns * 8 * kPack + chunk % 8 * kPack);
    }
  }
  end_products();
  wait_products<1>();  // those of the step before
  between();
}
DEVICE void wait_sums() { wait_products<0>(); }
template <typename Take>
DEVICE void for_sums(Sums& sums, Take take) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32 % kWarps;
  const int first = warp / 4 * kGroupBlocks * 64 + warp % 4 * 16 + lane / 4;
#pragma unroll
  for (int b = 0; b < kGroupBlocks; ++b) {
#pragma unroll
    for (int i = 0; i < kGroupSums; ++i) {
      take(first + b * 64 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2, sums.of[b][i]);
    }
  }
}
