// Blocks take tiles of streams.cu in turns: while the warps that multiply finish one, operands of the next are moved.
#define kPart (kColumns % 32 == 0 ? 32 : 16)  // columns that a warp finishes at once
#define kPartStride (kPart + 8)
#define kMine ((16 * kPart / kTaken + 31) / 32)  // packs of a thread in them
template <typename Take>
DEVICE void for_mine(const Work& work, int first_row, int first_column, Take take) {
#pragma unroll
  for (int i = 0; i < kMine; ++i) {
    const int pack = (int)thread_index() % 32 + i * 32;
    const int row = pack / (kPart / kTaken), column = pack % (kPart / kTaken) * kTaken;
    const int m = first_row + row, n = first_column + column;
    if (row < 16 && is_result(work, m, n)) take(i, row, column);
  }
}
#define kPartsOfTile (kBlocks * kColumns / kPart)
#define kIsEarly (kPartsOfTile * kMine <= kMostEarly)  // operands of a tile are read while the tile before is finished
struct Early {
  Operands of[kIsEarly ? kPartsOfTile : 1][kMine];
};
// The first row of a part, and its first column, in the tile.
DEVICE int row_of_part(int part) {
  return ((int)thread_index() / 128 * kBlocks + part / (kColumns / kPart)) * 64 + (int)thread_index() / 32 % 4 * 16;
}
DEVICE int column_of_part(int part) { return part % (kColumns / kPart) * kPart; }
DEVICE void read_operands(const Params& p, const Work& work, const Tile& tile, int part, Operands* operands) {
  const int first_row = tile.row + row_of_part(part), first_column = tile.column + column_of_part(part);
  for_mine(work, first_row, first_column, [&](int i, int row, int column) {
    operands[i] = operands_of(p, place_of(work, tile.item, first_row + row, first_column + column));
  });
}
DEVICE void read_early(const Params& p, const Work& work, const Tile& tile, Early& early) {
  if (!kIsEarly) return;
#pragma unroll
  for (int part = 0; part < kPartsOfTile; ++part) read_operands(p, work, tile, part, early.of[kIsEarly ? part : 0]);
}
// Finishes the sums of the thread's warp, through 16 rows of memory of its own.
DEVICE void finish_own(const Params& p, const Work& work, const Tile& tile, const Sums& sums, const Early& early, float* own) {
  const int lane = (int)thread_index() % 32;
#pragma unroll
  for (int part = 0; part < kPartsOfTile; ++part) {
    const int first = column_of_part(part);
    Operands late[kMine];
    if (!kIsEarly) read_operands(p, work, tile, part, late);
    const Operands* const operands = kIsEarly ? early.of[kIsEarly ? part : 0] : late;
    meet_warp();
#pragma unroll
    for (int i = 0; i < kPart / 2; i += 2) {
      *(Pack<float, 2>*)(own + place_in(kPartStride, lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2)) = {
          sums.of[part / (kColumns / kPart)][first / 2 + i], sums.of[part / (kColumns / kPart)][first / 2 + i + 1]};
    }
    meet_warp();
    for_mine(work, tile.row + row_of_part(part), tile.column + first, [&](int i, int row, int column) {
      finish(p, sums_at(own, kPartStride, row, column), operands[i]);
    });
  }
}

STREAM_KERNEL {
  DYNAMIC_SHARED(memory);
  const Work work = work_of(p);
  const Stages stages = stages_in(memory);
  const Role role = begin_role(p, work, stages);
  float* const own = (float*)(memory + kOwnPlace);
  if (!role.multiplies) {
    move_all(p, work, stages, role.acts);
    return;
  }
  Turn turn = {0, 0};
  const int tiles = tile_count(work);
  Early early;
  read_early(p, work, tile_at(work, first_tile()), early);
#pragma unroll 1
  for (int number = first_tile(); number < tiles; number += tile_turns()) {
    Sums sums;
    multiply(work, stages, turn, sums);
    const Early now = early;
    const int next = number + tile_turns();
    if (next < tiles) read_early(p, work, tile_at(work, next), early);
    finish_own(p, work, tile_at(work, number), sums, now, own + (int)thread_index() / 32 * 16 * kPartStride);
  }
}
