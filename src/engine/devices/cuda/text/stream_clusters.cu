// A block for each tile of streams.cu, or a cluster whose blocks share the depth and then the rows of the result.
#define kTileStride (kColumns + 8)
#define kShare (kRows / kSplits)  // rows that a block of the cluster finishes
#define kMine ((kShare * kColumns / kTaken + kConsumers - 1) / kConsumers)  // packs of a thread
// Calls take(i, row of the share, column) for the packs of the thread.
template <typename Take>
DEVICE void for_mine(Take take) {
#pragma unroll
  for (int i = 0; i < kMine; ++i) {
    const uint32 pack = thread_index() + i * kConsumers, row = pack / (kColumns / kTaken);
    if (kShare * kColumns / kTaken % kConsumers == 0 || row < kShare) take(i, (int)row, (int)(pack % (kColumns / kTaken)) * kTaken);
  }
}
DEVICE bool is_mine(const Work& work, const Tile& tile, int row, int column) {
  return is_result(work, tile.row + (int)block_z() % kSplits * kShare + row, tile.column + column);
}
DEVICE Operands operands_of_mine(const Params& p, const Work& work, const Tile& tile, int row, int column) {
  const int m = tile.row + (int)block_z() % kSplits * kShare + row;
  return operands_of(p, row_of(work, tile.item, m), tile.column + column);
}
// Brings the sums of a thread to the block that finishes them: each has room for the sums of its rows over every part of
// the depth, which are always added in one order.
DEVICE void share_out(const Sums& sums, float* parts) {
  const uint32 lane = thread_index() % 32, warp = thread_index() / 32 % 4, group = thread_index() / 128;
  const uint32 first = group * kBlocks * 64 + warp * 16 + lane / 4, part = block_z() % kSplits;
#pragma unroll
  for (int block = 0; block < 2 * kBlocks; ++block) {
    const uint32 row = first + block / 2 * 64 + block % 2 * 8;
    float* const at = parts + (part * kShare + row % kShare) * kTileStride;
    for_pairs<kColumns>(sums.of[block / 2], block % 2 != 0, at, [&](float* to, const Pack<float, 2>& two) {
#if kSplits > 1
      store_to_block((int)(row / kShare), to, two);
#else
      *(Pack<float, 2>*)to = two;
#endif
    });
  }
}
DEVICE void finish_mine(const Params& p, const Work& work, const Tile& tile, const Operands* operands, const float* parts) {
  Pack<float, kTaken> sums[kMine];
  for_mine([&](int i, int row, int column) {
    sums[i] = sums_at(parts, kTileStride, row, column);
#pragma unroll
    for (int part = 1; part < kSplits; ++part) {
      const Pack<float, kTaken> more = sums_at(parts + part * kShare * kTileStride, kTileStride, row, column);
#pragma unroll
      for (int e = 0; e < kTaken; ++e) sums[i].e[e] += more.e[e];
    }
  });
  for_mine([&](int i, int row, int column) {
    if (!is_mine(work, tile, row, column)) return;
    finish(p, sums[i], kMine <= kMostEarly ? operands[i] : operands_of_mine(p, work, tile, row, column));
  });
}

STREAM_KERNEL {
  DYNAMIC_SHARED(memory);
  const Work work = work_of(p);
  const Stages stages = stages_in(memory);
  const Role role = begin_role(p, work, stages);
  float* const own = (float*)(memory + kOwnPlace);
  const Tile tile = tile_at(work, 0);
  Operands operands[kMine];
  Sums sums;
  if (role.multiplies) {
    if (kMine <= kMostEarly) {
      for_mine([&](int i, int row, int column) {
        if (is_mine(work, tile, row, column)) operands[i] = operands_of_mine(p, work, tile, row, column);
      });
    }
    Turn turn = {0, 0};
    multiply(work, stages, turn, sums);
  } else {
    move_all(p, work, stages, role.acts);
  }
#if kSplits > 1
  wait_for_cluster();  // all blocks have begun
#endif
  if (role.multiplies) share_out(sums, own);
#if kSplits > 1
  arrive_at_cluster();
  wait_for_cluster();
#else
  meet();
#endif
  if (role.multiplies) finish_mine(p, work, tile, operands, own);
}
