// A convolution of channels apart as the left operand of the product by constant columns that alone reads it, in 16 bits: a
// block makes kRows pixels of all channels in shared memory, then kColumns columns of the result; the blocks of a cluster of
// kBlocks share out the channels, give each other what they made, and have columns of their own. Columns and the first
// filters are read before the launch before has ended. Operands lie in steps of kDepth channels, kUnits of 32 bytes in all,
// which groups of warps take in turns; their sums are added in one order. Given by the writer, besides depthwise_window.cu's
// and tile_sums.cu's: `apart::operands_of(p, row, column)` and `apart::finished`, for what follows the first convolution.
#define kUnitsOfStep (kChunks / 2)
#define kLeftStep (kRows * kDepth)
#define kRightStep (kColumns * kDepth)
#define kSumStride (kColumns + 8)
#define kMine ((kRows * kColumns / kTaken + kThreads - 1) / kThreads)  // packs of results of a thread

struct Memory {
  T* left;
  T* right;
  float* sums;
};
DEVICE Memory memory_at(const Params& p, unsigned char* memory) {
  const int steps = (kUnits + kUnitsOfStep - 1) / kUnitsOfStep;
  T* const left = (T*)memory;
  T* const right = left + steps * kLeftStep;
  return {left, right, (float*)(right + steps * kRightStep)};
}
// Brings the block's columns near, with zeros behind their depth: a thread has packs at the same place of several steps.
#define kPacksOfStep (kColumns * kChunks)
#define kTogether (kThreads / kPacksOfStep > 0 ? kThreads / kPacksOfStep : 1)  // steps
DEVICE void copy_columns(const Params& p, int first_column, T* right) {
  const int thread = (int)thread_index(), steps = (kUnits + kUnitsOfStep - 1) / kUnitsOfStep;
#pragma unroll
  for (int first = 0; first < kPacksOfStep; first += kThreads) {
    const int pack = (first + thread) % kPacksOfStep, row = pack / kChunks, chunk = pack % kChunks;
    const bool is_column = first_column + row < kResults;
    const T* const from = kRight + (is_column ? (int64)(first_column + row) * kRightColumn : 0) + chunk * kPack;
    if (first + thread >= kTogether * kPacksOfStep) continue;
#pragma unroll 4
    for (int step = thread / kPacksOfStep; step < steps; step += kTogether) {
      copy_or_zero(right + step * kRightStep + place_in(row, chunk), from + step * kDepth,
                   is_column && step * kDepth + chunk * kPack < kChannels);
    }
  }
  end_copies();
}

// The channels of a thread, a pack of them, and its rows: `row`, and others kByLanes' quotients apart.
struct Part {
  uint32 channel;
  int row;
  bool is_there;
};
DEVICE Part part_of(const Params& p, int rank) {
  const uint32 group = quotient(thread_index(), kByLanes), lane = thread_index() - group * kByLanes.divisor;
  const int chunks = kChannels / kPack, begin = chunks * rank / kBlocks, end = chunks * (rank + 1) / kBlocks;
  const bool is_there = begin + (int)lane < end && (int)group < kGroups;
  return {is_there ? (uint32)(begin + (int)lane) * kPack : 0, (int)group, is_there};
}
// Puts what a thread made where all blocks of the cluster multiply it.
DEVICE void give(T* at, const Pack<T, kPack>& made) {
#if kBlocks > 1
  const Pack<uint32, 4> words = *(const Pack<uint32, 4>*)&made;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) store_to_block(block, (uint32*)at, words);
#else
  *(Pack<T, kPack>*)at = made;
#endif
}
DEVICE void make_left(const Params& p, const Part& part, const Raw<T, kPack>* filters, int first_row, T* left) {
  const int chunk = (int)part.channel / kPack;
  T* const step = left + chunk / kChunks * kLeftStep;
  const auto operands = apart::operands_of(p, 0, (int)part.channel);  // of any row
#pragma unroll 1
  for (int row = part.row; row < kRows && first_row + row < kPixels; row += kGroups) {
    const uint32 pixel = (uint32)(first_row + row);
    Pack<float, kPack> sums;
    sum_window(p, place_of(p, pixel, part.channel), part.channel, filters, sums.e);
    give(step + place_in(row, chunk % kChunks), apart::finished(p, sums, operands));
  }
}
// The half of the last unit that no channel fills.
DEVICE void fill_left(const Params& p, T* left) {
  const int chunk = kChannels / kPack;
  if (chunk % 2 == 0) return;
  for (int row = (int)thread_index(); row < kRows; row += kThreads) {
    *(Pack<T, kPack>*)(left + chunk / kChunks * kLeftStep + place_in(row, chunk % kChunks)) = Pack<T, kPack>();
  }
}

DEVICE void multiply(const Params& p, const Memory& memory, Sums& sums) {
  clear(sums);
#pragma unroll 2
  for (int unit = depth_part(); unit < kUnits; unit += kWarpDepth) {
    Fragments fragments;
    const int step = unit / kUnitsOfStep;
    load_fragments(memory.left + step * kLeftStep, memory.right + step * kRightStep, unit % kUnitsOfStep, fragments);
    add_products(fragments, sums);
  }
}
// Calls take(i, row, column) for the packs of results of the thread.
template <typename Take>
DEVICE void for_mine(Take take) {
#pragma unroll
  for (int i = 0; i < kMine; ++i) {
    const int pack = (int)thread_index() + i * kThreads;
    if (kRows * kColumns / kTaken % kThreads == 0 || pack < kRows * kColumns / kTaken) {
      take(i, pack / (kColumns / kTaken), pack % (kColumns / kTaken) * kTaken);
    }
  }
}

// Registers are left for blocks of the launch behind.
#define kResident (512 / kThreads)
#if kBlocks > 1
#define SEPARABLE_KERNEL CLUSTER_KERNEL(kThreads, kResident, kBlocks)
#else
#define SEPARABLE_KERNEL RESIDENT_KERNEL(kThreads, kResident)
#endif
SEPARABLE_KERNEL {
  DYNAMIC_SHARED(shared);
  const Memory memory = memory_at(p, shared);
  const int rank = (int)block_z() % kBlocks;
  const int first_row = (int)block_x() * kRows, first_column = ((int)block_y() * kBlocks + rank) * kColumns;
#if kBlocks > 1
  arrive_at_cluster();
#endif
  const Part part = part_of(p, rank);
  Raw<T, kPack> filters[kTaps];
  load_filters(p, 0, part.channel, filters);
  copy_columns(p, first_column, memory.right);
  fill_left(p, memory.left);
  AFTER_THE_ONE_BEFORE();
  const auto is_result = [&](int row, int column) { return first_row + row < kPixels && first_column + column < kResults; };
  Operands operands[kMine];
  for_mine([&](int i, int row, int column) {
    if (is_result(row, column)) operands[i] = operands_of(p, first_row + row, first_column + column);
  });
#if kBlocks > 1
  wait_for_cluster();  // all blocks have begun
#endif
  if (part.is_there) make_left(p, part, filters, first_row, memory.left);
  wait_copies<0>();
#if kBlocks > 1
  arrive_at_cluster();
  wait_for_cluster();
#else
  meet();
#endif
  Sums sums;
  multiply(p, memory, sums);
  float* const own = memory.sums + depth_part() * (kRows * kSumStride);
  for_sums(sums, [&](int row, int column, float sum) { own[row * kSumStride + column] = sum; });
  meet();
  for_mine([&](int i, int row, int column) {
    if (!is_result(row, column)) return;
    Pack<float, kTaken> made = {};
#pragma unroll
    for (int group = 0; group < kWarpDepth; ++group) {
      const float* const from = memory.sums + (group * kRows + row) * kSumStride + column;
#pragma unroll
      for (int e = 0; e < kTaken; ++e) made.e[e] += from[e];
    }
    finish(p, made, operands[i]);
  });
}
