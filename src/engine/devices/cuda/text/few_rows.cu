// Products of kRows rows by constant columns, each of whose elements is read once, as fast as memory gives them: a warp has
// kColumnsOfWarp columns. Their first kPacks packs for each lane are read before the launch before has ended.
#define kWarps (kThreads / 32)
#define kPack 8
EARLY_KERNEL(kThreads) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const int first = ((int)block_x() * kWarps + warp) * kColumnsOfWarp, packs = kDepth / kPack;
  Pack<T, kPack> weights[kColumnsOfWarp][kPacks];
  const auto read = [&](int begin) {
#pragma unroll
    for (int c = 0; c < kColumnsOfWarp; ++c) {
      const T* const column = kRight + (int64)(first + c < kColumns ? first + c : kColumns - 1) * kRightColumn;
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        const int pack = begin + i * 32 + lane;
        if (pack < packs) weights[c][i] = *(const Pack<T, kPack>*)(column + pack * kPack);
      }
    }
  };
  read(0);
  AFTER_THE_ONE_BEFORE();
  // Each result is finished by a lane, which reads its operands while the products are made.
  const int own_row = lane / kColumnsOfWarp, own_column = first + lane % kColumnsOfWarp;
  const bool finishes = lane < kRows * kColumnsOfWarp && own_column < kColumns;
  const Operands operands = operands_of(p, finishes ? (uint32)(own_row * kColumns + own_column) : 0);
  float sums[kRows][kColumnsOfWarp];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kColumnsOfWarp; ++c) sums[r][c] = 0;
  }
  for (int begin = 0; begin < packs; begin += 32 * kPacks) {
    if (begin > 0) read(begin);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Raw<T, kPack> read[kPacks];
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        const int pack = begin + i * 32 + lane;
        if (pack < packs) read[i] = load_raw<T, kPack>(kLeft + (int64)r * kLeftRow + pack * kPack);
      }
#pragma unroll
      for (int i = 0; i < kPacks; ++i) {
        if (begin + i * 32 + lane >= packs) continue;
        const Pack<T, kPack> x = unpacked(read[i]);
#pragma unroll
        for (int c = 0; c < kColumnsOfWarp; ++c) {
#pragma unroll
          for (int e = 0; e < kPack; ++e) sums[r][c] = fmaf(widened(x.e[e]), widened(weights[c][i].e[e]), sums[r][c]);
        }
      }
    }
  }
  float own = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kColumnsOfWarp; ++c) {
      const float sum = warp_sum(sums[r][c]);
      if (lane == r * kColumnsOfWarp + c) own = sum;
    }
  }
  if (finishes) finish(p, Pack<float, 1>{{own}}, operands);
}
