// Blocks take tiles of streams.cu in turns: while the warps that multiply finish one, operands of the next are moved. Both
// groups share a tile, or, apart, one multiplies while the other finishes. Operands that differ from row to row wait in
// slots of the thread that takes them, kRing parts ahead. kPairs, where there are no such: a thread finishes its own sums,
// two neighbours at once, and results of 16 bits are put together to packs through memory; otherwise sums are, and packs of
// them finished.
#define kPart (kColumns % 32 == 0 ? 32 : 16)  // columns that a warp finishes at once
#define kPartStride (kPart + 8)
#define kColumnParts (kColumns / kPart)
#define kMine ((16 * kPart / kTaken + 31) / 32)  // packs of a thread in them
#define kParts (kBlocks * kColumns / kPart)      // of a warp in a tile
// Where a thread takes results: of a tile, from its first row of a part on.
struct Taken {
  int item, row, column;
};
DEVICE Taken taken_of(const Tile& tile) {
  const uint32 lane = thread_index() % 32, group = kIsApart ? 0 : thread_index() / 128;
  const uint32 row = group * kBlocks * 64 + thread_index() / 32 % 4 * 16 + lane / (kPart / kTaken);
  return {tile.item, tile.row + (int)row, tile.column + (int)(lane % (kPart / kTaken)) * kTaken};
}
#define kRowsOfPack (32 / (kPart / kTaken))  // that packs of all lanes fill
// Calls take(i, m, n) for the packs of a part that are results.
template <typename Take>
DEVICE void for_mine(const Work& work, const Taken& taken, int part, Take take) {
  const int n = taken.column + part % kColumnParts * kPart;
#pragma unroll
  for (int i = 0; i < kMine; ++i) {
    const int m = taken.row + part / kColumnParts * 64 + i * kRowsOfPack;
    if (is_result(work, m, n)) take(i, m, n);
  }
}
DEVICE unsigned char* slots_of(unsigned char* own, int part, int i) {
  return own + (part % kRing * kMine + i) * kSlots * kSlotStride;
}
// Begins to fill the slots of a part.
DEVICE void fetch_part(const Params& p, const Work& work, const Taken& taken, int part, bool is_there, unsigned char* own) {
#if kSlots > 0
  if (is_there) {
    for_mine(work, taken, part, [&](int i, int m, int n) { fetch(p, row_of(work, taken.item, m), n, slots_of(own, part, i)); });
  }
  end_copies();
#endif
}
// What a thread reads for its results besides slots: for a whole tile at once, before it is multiplied, where operands
// are known by the column; otherwise a part ahead.
#if kPairs
#define kResultStride (kPart + 8)
#define kPairsOfRow (kPart / 8)
#define kHeld (kColumnParts * kPairsOfRow)
#elif kIsByColumn
#define kHeld kColumnParts
#else
#define kHeld kMine
#endif
struct Held {
  Operands of[kHeld];
};
DEVICE Operands operands_in(const Params& p, const Work& work, const Taken& taken, int n) {
  return operands_of(p, row_of(work, taken.item, 0), n < work.columns ? n : 0);
}
DEVICE void read_tile(const Params& p, const Work& work, const Taken& taken, Held& held) {
#if kPairs
  const int lane = (int)thread_index() % 32, first = taken.column - lane % kPairsOfRow * kTaken + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) held.of[i] = operands_in(p, work, taken, first + i * 8);
#elif kIsByColumn
#pragma unroll
  for (int i = 0; i < kHeld; ++i) held.of[i] = operands_in(p, work, taken, taken.column + i * kPart);
#endif
}
#if kPairs
// Finishes the sums of the thread.
DEVICE void finish_own(const Params& p, const Work& work, const Taken& taken, const Taken& next, bool has_next,
                       const Sums& sums, const Held& held, float* memory, unsigned char* slots) {
  const int lane = (int)thread_index() % 32;
  Result* const own = (Result*)memory;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const float* const given = sums.of[part / kColumnParts] + part % kColumnParts * kPart / 2;
    meet_warp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int c = 0; c < kPairsOfRow; ++c) {
        const float* const two = given + c * 4 + half * 2;
        const Operands& operands = held.of[part % kColumnParts * kPairsOfRow + c];
        const Pack<Result, 2> made = finished(p, Pack<float, 2>{{two[0], two[1]}}, operands);
        *(Pack<Result, 2>*)(own + (lane / 4 + half * 8) * kResultStride + c * 8 + lane % 4 * 2) = made;
      }
    }
    meet_warp();
    for_mine(work, taken, part, [&](int i, int m, int n) {
      const int row = lane / kPairsOfRow + i * kRowsOfPack;
      const Result* const pack = own + row * kResultStride + lane % kPairsOfRow * kTaken;
      write(p, row_of(work, taken.item, m), n, *(const Pack<Result, kTaken>*)pack);
    });
  }
}
#else
DEVICE void read_part(const Params& p, const Work& work, const Taken& taken, int part, Held& held) {
#if !kIsByColumn
  for_mine(work, taken, part, [&](int i, int m, int n) { held.of[i] = operands_of(p, row_of(work, taken.item, m), n); });
#endif
}
// Finishes the sums of the thread's warp, through 16 rows of memory of its own, and fetches for the next tile.
DEVICE void finish_own(const Params& p, const Work& work, const Taken& taken, const Taken& next, bool has_next,
                       const Sums& sums, const Held& of_tile, float* own, unsigned char* slots) {
  const uint32 lane = thread_index() % 32;
  Held held = of_tile;
  read_part(p, work, taken, 0, held);
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    const int first = part % kColumnParts * kPart;
    meet_warp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      for_pairs<kPart>(sums.of[part / kColumnParts] + first / 2, half != 0, own + (lane / 4 + half * 8) * kPartStride,
                       [](float* to, const Pack<float, 2>& two) { *(Pack<float, 2>*)to = two; });
    }
    meet_warp();
    if (kSlots > 0) wait_copies<kRing - 1>();
    Pack<float, kTaken> made[kMine];
#pragma unroll
    for (int i = 0; i < kMine; ++i) {
      made[i] = sums_at(own, kPartStride, (int)(lane / (kPart / kTaken)) + i * kRowsOfPack, (int)(lane % (kPart / kTaken)) * kTaken);
    }
    const Held now = held;
    if (part + 1 < kParts) read_part(p, work, taken, part + 1, held);
    for_mine(work, taken, part, [&](int i, int m, int n) {
      const Operands& operands = now.of[kIsByColumn ? part % kColumnParts : i];
      finish(p, row_of(work, taken.item, m), n, made[i], operands, slots_of(slots, part, i));
    });
    if (part + kRing < kParts) {
      fetch_part(p, work, taken, part + kRing, true, slots);
    } else {
      fetch_part(p, work, next, part + kRing - kParts, has_next, slots);
    }
  }
}
#endif

// A group that is apart does not see the stages of the other's tile.
DEVICE void skip_tile(const Work& work, Turn& turn) {
  const Span span = span_of(work);
  const int steps = span.end - span.begin;
  turn.stage += steps % kStages;
  turn.parity ^= (uint32)(steps / kStages) & 1;
  if (turn.stage < kStages) return;
  turn.stage -= kStages;
  turn.parity ^= 1;
}

STREAM_KERNEL {
  DYNAMIC_SHARED(memory);
  const Work work = work_of(p);
  const Stages stages = stages_in(memory);
  const Role role = begin_role(p, work, stages);
  float* const own = (float*)(memory + kOwnPlace) + (int)thread_index() / 32 * 16 * kPartStride;
  if (!role.multiplies) {
#if kSharesRegisters
    give_registers();
#endif
    if (role.moves) move_all(p, work, stages, role.acts);
  } else {
#if kSharesRegisters
    take_registers();
#endif
    unsigned char* const slots = memory + kSlotPlace + (int)thread_index() * 16;
    const int turns = kIsApart ? 2 * tile_turns() : tile_turns(), tiles = tile_count(work);
    Turn turn = {0, 0};
    uint32 permitted = 1;  // the parity of what permits the next product; the first group begins
    int number = first_tile();
    if (kIsApart && warp_index() >= 4) {
      number += tile_turns();
      skip_tile(work, turn);
      permitted = 0;
    }
    Taken next = {};
    if (number < tiles) next = taken_of(tile_at(work, number));
#pragma unroll
    for (int part = 0; part < kRing; ++part) fetch_part(p, work, next, part, number < tiles, slots);
#pragma unroll 1
    while (number < tiles) {
      const Taken taken = next;
      number += turns;
      if (number < tiles) next = taken_of(tile_at(work, number));
      Sums sums;
      Held held;
      read_tile(p, work, taken, held);
      if (kIsApart) wait_turn(stages.permitted + warp_index() / 4, permitted);
      permitted ^= 1;
      multiply(work, stages, turn, sums);
      finish_own(p, work, taken, next, number < tiles, sums, held, own, slots);
      if (kIsApart) skip_tile(work, turn);
    }
  }
#if kIsPaired
  // The other block may still write here.
  arrive_at_cluster();
  wait_for_cluster();
#endif
}
