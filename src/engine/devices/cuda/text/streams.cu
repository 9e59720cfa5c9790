// Products of tiles whose operands one thread moves into shared memory, by maps of them, and convolutions over pictures
// with channels last as such products (sm_90a). Given by the writer: T, and kStep elements of the depth in rows of 128 bytes; kRows, kColumns; kBlocks of 64 rows for
// each group of four warps; kStages; kSplits, blocks of a cluster that share the depth; kIsLong: blocks take tiles in
// turns; kIsApart: each group has tiles of its own; kIsPaired: blocks of a
// cluster of two share what is moved of the columns; kIsWindow, of kTapsX columns; kLeftItems, kRightItems: 1 if the operand differs by item; kRightIsConstant;
// `multiply_group(sums, left, right, adds)`, which makes, or adds, the product of 64 rows over 32 bytes of the depth;
// `Work` and `work_of(p)`; `row_of(work, item, m)`, the row among those of all items, and `operands_of` and `finish` for
// it; stream_clusters.cu and stream_turns.cu are the kernels: the one is given kMostEarly, packs of operands that a thread
// reads before it needs them, the other `fetch`, kSlots of a pack, kRing parts that are fetched ahead.
#define kSharing (kRows / 64 / kBlocks)  // groups of four warps that share a tile
#define kGroups (kIsApart ? 2 : kSharing)
#define kConsumers (128 * kGroups)
#define kThreads (kConsumers + kMovers)  // of these, one warp moves
#define kStageBytes ((kRows + kColumns) * 128)

struct Sums {
  float of[kBlocks][kColumns / 2];
};
// First row and column of results of an item.
struct Tile {
  int item, row, column;
};
struct Stages {
  unsigned char* first;
  uint64* full;
  uint64* empty;
  uint64* permitted;  // by group, if they are apart: it may multiply
};
// The stage whose turn it is, and the parity of its round.
struct Turn {
  int stage;
  uint32 parity;
};
DEVICE void next_turn(Turn& turn) {
  if (++turn.stage < kStages) return;
  turn.stage = 0;
  turn.parity ^= 1;
}
DEVICE Stages stages_in(unsigned char* memory) {
  uint64* const barriers = (uint64*)(memory + kBarrierPlace);
  return {memory, barriers, barriers + kStages, barriers + 2 * kStages};
}

// A step of the depth: elements of a product from `first` on, or channels of a window's tap.
struct Step {
  int first, tap_x, tap_y, tap;
};
DEVICE Step step_at(const Work& work, int number) {
  if (!kIsWindow) return {number * kStep, 0, 0, 0};
  const int of_tap = (work.depth + kStep - 1) / kStep, tap = number / of_tap;
  return {(number - tap * of_tap) * kStep, tap % kTapsX, tap / kTapsX, tap};
}
DEVICE void next_step(const Work& work, Step& step) {
  step.first += kStep;
  if (!kIsWindow || step.first < work.depth) return;
  step.first = 0;
  ++step.tap;
  if (++step.tap_x < kTapsX) return;
  step.tap_x = 0;
  ++step.tap_y;
}
// The window of a tile's first row.
struct Corner {
  int image, y, x;
};
DEVICE Corner corner_of(const Work& work, int row) {
  if (!kIsWindow) return {0, 0, 0};
  const uint32 image = quotient((uint32)row, work.by_pixels);
  const uint32 pixel = (uint32)row - image * work.by_pixels.divisor;
  const uint32 y = quotient(pixel, work.by_width), x = pixel - y * work.by_width.divisor;
  return {(int)image, (int)y * work.stride_y - work.pad_top, (int)x * work.stride_x - work.pad_left};
}

DEVICE void move_right(const Params& p, const Work& work, const Tile& tile, const Step& step, const Stages& stages, int stage) {
  const int part = kIsPaired ? (int)block_z() * (kColumns / 2) : 0;  // each block of a pair moves its half to both
  void* const to = stages.first + stage * kStageBytes + (kRows + part) * 128;
  const int column = tile.column + part;
  const int y = kIsWindow ? step.tap : column, z = kIsWindow ? tile.item * work.columns + column : kRightItems * tile.item;
#if kIsPaired
  move_box_to_both(to, p.maps + 1, stages.full + stage, step.first, y, z);
#else
  move_box(to, p.maps + 1, stages.full + stage, step.first, y, z);
#endif
}
DEVICE void move_left(const Params& p, const Work& work, const Tile& tile, const Corner& corner, const Step& step,
                      const Stages& stages, int stage) {
  void* const to = stages.first + stage * kStageBytes;
  if (kIsWindow) {
    move_windows(to, p.maps, stages.full + stage, step.first + tile.item * work.depth, corner.x,
                 corner.y, corner.image, step.tap_x * work.dilation_x, step.tap_y * work.dilation_y);
  } else {
    move_box(to, p.maps, stages.full + stage, step.first, tile.row, kLeftItems * tile.item);
  }
}

// Steps of the depth of this block.
struct Span {
  int begin, end;
};
DEVICE Span span_of(const Work& work) {
  const int of_tap = (work.depth + kStep - 1) / kStep;
  const int steps = of_tap * work.taps, part = (int)block_z() % kSplits;
  return {steps * part / kSplits, steps * (part + 1) / kSplits};
}

// Tiles of a block: its own one, or all whose turn it is, by groups of rows that find their columns in the card's
// second cache.
#if kIsLong
#define kTogether 16
DEVICE int tile_count(const Work& work) { return work.row_tiles * work.column_tiles * work.items; }
DEVICE Tile tile_at(const Work& work, int number) {
  const int of_item = work.row_tiles * work.column_tiles, item = number / of_item, in_item = number - item * of_item;
  const int of_group = kTogether * work.column_tiles, group = in_item / of_group, in_group = in_item - group * of_group;
  const int left = work.row_tiles - group * kTogether, height = left < kTogether ? left : kTogether;
  const int column = in_group / height, row = in_group - column * height;
  return {item, (group * kTogether + row) * kRows, column * kColumns};
}
// Blocks of a pair have tiles below each other.
#define kBlocksOfPair (kIsPaired ? 2 : 1)
DEVICE int first_tile() { return (int)block_x() * kBlocksOfPair + (kIsPaired ? (int)block_z() : 0); }
DEVICE int tile_turns() { return (int)blocks_x() * kBlocksOfPair; }
#else
DEVICE int tile_count(const Work& work) { return 1; }
DEVICE Tile tile_at(const Work& work, int number) {
  return {(int)block_z() / kSplits, (int)block_x() * kRows, (int)block_y() * kColumns};
}
DEVICE int first_tile() { return 0; }
DEVICE int tile_turns() { return 1; }
#endif

DEVICE void start_barriers(const Params& p, const Stages& stages) {
#pragma unroll 1
  for (int stage = 0; stage < kStages; ++stage) {
    start_barrier(stages.full + stage, 1);
    start_barrier(stages.empty + stage, 4 * kSharing * (kIsPaired ? 2 : 1));
  }
  if (kIsApart) {
    start_barrier(stages.permitted, 4);
    start_barrier(stages.permitted + 1, 4);
  }
  show_barriers();
  prepare_map(p.maps);
}
// A stage was read: those that move to it may do so again.
DEVICE void give_back(const Stages& stages, int stage) {
  if (thread_index() % 32 != 0) return;
  arrive(stages.empty + stage);
#if kIsPaired
  arrive_at_block(1 - (int)block_z(), stages.empty + stage);
#endif
}
// Begins with the weights of the first tile: they are there before the launch before has ended. All lanes of the warp
// that moves walk together, and one of them acts.
DEVICE void begin_moving(const Params& p, const Work& work, const Stages& stages, bool acts) {
  if (!kRightIsConstant) return;
  const Span span = span_of(work);
  const Tile tile = tile_at(work, first_tile());
  Step step = step_at(work, span.begin);
#pragma unroll 1
  for (int stage = 0; stage < kStages && stage < span.end - span.begin; ++stage) {
    if (acts) {
      expect_bytes(stages.full + stage, kStageBytes);
      move_right(p, work, tile, step, stages, stage);
    }
    next_step(work, step);
  }
}
DEVICE void move_all(const Params& p, const Work& work, const Stages& stages, bool acts) {
  const Span span = span_of(work);
  Turn turn = {0, 0};
  int begun = kRightIsConstant ? kStages : 0;  // stages whose right is under way
#pragma unroll 1
  for (int number = first_tile(); number < tile_count(work); number += tile_turns()) {
    const Tile tile = tile_at(work, number);
    const Corner corner = corner_of(work, tile.row);
    Step step = step_at(work, span.begin);
#pragma unroll 1
    for (int i = span.begin; i < span.end; ++i) {
      if (begun <= 0) wait_turn(stages.empty + turn.stage, turn.parity ^ 1);
      if (acts) {
        if (begun <= 0) {
          expect_bytes(stages.full + turn.stage, kStageBytes);
          move_right(p, work, tile, step, stages, turn.stage);
        }
        move_left(p, work, tile, corner, step, stages, turn.stage);
      }
      --begun;
      next_step(work, step);
      next_turn(turn);
    }
    begun = 0;
  }
}

#if kPromotes
// Makes the products of all steps. Tensor cores keep few bits of the sums of float8: those of a step, 128 of the depth, are
// added in float32.
DEVICE void multiply(const Work& work, const Stages& stages, Turn& turn, Sums& sums) {
  const int rows = warp_index() / 4 * kBlocks * 64;
  const Operand first_left = operand_of(stages.first + rows * 128);
  const Span span = span_of(work);
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) sums.of[b][i] = 0;
  }
#pragma unroll 1
  for (int i = span.begin; i < span.end; ++i) {
    Sums step;
    wait_turn(stages.full + turn.stage, turn.parity);
    const Operand left = moved(first_left, turn.stage * kStageBytes), right = moved(left, (kRows - rows) * 128);
    begin_products();
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) {
        multiply_group(step.of[b], moved(left, b * 64 * 128 + quarter * 32), moved(right, quarter * 32), quarter > 0);
      }
    }
    end_products();
    wait_products<0>();
    give_back(stages, turn.stage);
    next_turn(turn);
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
#pragma unroll
      for (int n = 0; n < kColumns / 2; ++n) sums.of[b][n] += step.of[b][n];
    }
  }
}
#else
// Makes the products of all steps; each stage is given back once it was read. What sums were is never read: a product
// that waits for them would wait for all before.
DEVICE void multiply(const Work& work, const Stages& stages, Turn& turn, Sums& sums) {
  const int rows = kIsApart ? 0 : warp_index() / 4 * kBlocks * 64;
  const Operand first_left = operand_of(stages.first + rows * 128);
  const Span span = span_of(work);
  int before = -1;
#pragma unroll 1
  for (int i = span.begin; i < span.end; ++i) {
    wait_turn(stages.full + turn.stage, turn.parity);
    const Operand left = moved(first_left, turn.stage * kStageBytes), right = moved(left, (kRows - rows) * 128);
    begin_products();
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int first = quarter * 32;  // bytes of a row
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) {
        multiply_group(sums.of[b], moved(left, b * 64 * 128 + first), moved(right, first), i > span.begin || quarter > 0);
      }
    }
    end_products();
    wait_products<1>();
    if (before >= 0) give_back(stages, before);
    before = turn.stage;
    next_turn(turn);
  }
  // The other group may begin: rounds that it waits for are the next ones now.
  const int other = warp_index() < 4 ? 1 : 0;
  if (kIsApart && thread_index() % 32 == 0) arrive(stages.permitted + other);
  wait_products<0>();
  give_back(stages, before);
}
#endif

// The place of a sum among rows of memory: threads that write neighbouring rows, or read neighbouring packs, find them in
// other banks.
DEVICE int place_in(int stride, int row, int column) {
  return row * stride + (column ^ (((column >> 5) ^ row) & 1) << 2);
}
// Gives write(pointer, pair) the pairs of a thread's sums from `first` on, kCount columns, which lie in one row of memory,
// the upper or the lower one of two.
template <int kCount, typename Write>
DEVICE void for_pairs(const float* sums, bool is_lower, float* row, Write write) {
  const uint32 lane = thread_index() % 32, pair = lane % 4 * 2 ^ (lane / 4 & 1) << 2;
  float* const even = row + pair;
  float* const odd = row + (pair ^ 4);
#pragma unroll
  for (int c = 0; c < kCount / 8; ++c) {
    const float* const two = sums + c * 4 + (is_lower ? 2 : 0);
    write((c / 4 % 2 == 0 ? even : odd) + c * 8, Pack<float, 2>{{two[0], two[1]}});
  }
}
DEVICE Pack<float, kTaken> sums_at(const float* sums, int stride, int row, int column) {
  constexpr int kAtOnce = kTaken < 4 ? kTaken : 4;
  Pack<float, kTaken> made;
#pragma unroll
  for (int i = 0; i < kTaken; i += kAtOnce) {
    const Pack<float, kAtOnce> some = *(const Pack<float, kAtOnce>*)(sums + place_in(stride, row, column + i));
#pragma unroll
    for (int e = 0; e < kAtOnce; ++e) made.e[i + e] = some.e[e];
  }
  return made;
}
DEVICE bool is_result(const Work& work, int m, int n) { return m < work.rows && n < work.columns; }

#if kSplits > 1 || kIsPaired
#define STREAM_KERNEL CLUSTER_KERNEL(kThreads, kResident, kIsPaired ? 2 : kSplits)
#else
#define STREAM_KERNEL RESIDENT_KERNEL(kThreads, kResident)
#endif
// A thread's part in such a kernel.
struct Role {
  bool multiplies, moves;
  bool acts;  // in the warp that moves
};
// Returns when what earlier launches made may be read; the first weights are under way.
DEVICE Role begin_role(const Params& p, const Work& work, const Stages& stages) {
  Role role;
  role.multiplies = warp_index() < kConsumers / 32;
  role.moves = warp_index() == kConsumers / 32;
  role.acts = role.moves && is_elected();
  if (role.acts) start_barriers(p, stages);
#if kIsPaired
  arrive_at_cluster();
  wait_for_cluster();
#endif
  if (role.moves) begin_moving(p, work, stages, role.acts);
#if kSplits > 1
  arrive_at_cluster();
#endif
  meet();
  AFTER_THE_ONE_BEFORE();
  return role;
}
