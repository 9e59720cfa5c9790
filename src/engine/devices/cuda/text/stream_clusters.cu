// A block for each tile of streams.cu, or a cluster whose blocks share the depth and then the rows of the result.
#define kTileStride (kColumns + 8)
#define kShare (kRows / kSplits)  // rows that a block of the cluster finishes
#define kMine ((kShare * kColumns / kTaken + kConsumers - 1) / kConsumers)  // packs of a thread
// Calls take(i, row of the share, column) for the packs of the thread that are results.
template <typename Take>
DEVICE void for_mine(const Work& work, const Tile& tile, Take take) {
  const int first_row = tile.row + (int)block_z() % kSplits * kShare;
#pragma unroll
  for (int i = 0; i < kMine; ++i) {
    const int pack = (int)thread_index() + i * kConsumers;
    const int row = pack / (kColumns / kTaken), column = pack % (kColumns / kTaken) * kTaken;
    if (row < kShare && is_result(work, first_row + row, tile.column + column)) take(i, row, column);
  }
}
DEVICE uint32 place_of_mine(const Work& work, const Tile& tile, int row, int column) {
  return place_of(work, tile.item, tile.row + (int)block_z() % kSplits * kShare + row, tile.column + column);
}
// Brings the sums of a thread to the block that finishes them: each has room for the sums of its rows over every part of
// the depth, which are always added in one order.
DEVICE void share_out(const Sums& sums, float* parts) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32 % 4, group = (int)thread_index() / 128;
  const int first = group * kBlocks * 64 + warp * 16 + lane / 4, part = (int)block_z() % kSplits;
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (int i = 0; i < kColumns / 2; i += 2) {
      const int row = first + b * 64 + i / 2 % 2 * 8;
      float* const at = parts + part * kShare * kTileStride + place_in(kTileStride, row % kShare, i / 4 * 8 + lane % 4 * 2);
      const Pack<float, 2> two = {sums.of[b][i], sums.of[b][i + 1]};
#if kSplits > 1
      store_to_block(row / kShare, at, two);
#else
      *(Pack<float, 2>*)at = two;
#endif
    }
  }
}
DEVICE void finish_mine(const Params& p, const Work& work, const Tile& tile, const Operands* operands, const float* parts) {
  for_mine(work, tile, [&](int i, int row, int column) {
    Pack<float, kTaken> sum = sums_at(parts, kTileStride, row, column);
#pragma unroll
    for (int part = 1; part < kSplits; ++part) {
      const Pack<float, kTaken> more = sums_at(parts + part * kShare * kTileStride, kTileStride, row, column);
#pragma unroll
      for (int e = 0; e < kTaken; ++e) sum.e[e] += more.e[e];
    }
    finish(p, sum, kMine <= kMostEarly ? operands[i] : operands_of(p, place_of_mine(work, tile, row, column)));
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
      for_mine(work, tile, [&](int i, int row, int column) { operands[i] = operands_of(p, place_of_mine(work, tile, row, column)); });
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
