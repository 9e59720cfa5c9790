// Products of kRows rows by compressed weights, whose codes are read once, as fast as memory gives them: a warp has
// kColumnsOfWarp columns, of which each lane takes a unit at a time. Codes and numbers of kAhead units are on their way,
// those of the first ones before the launch before has ended. kIsWhole: units lie in the depth one after the other.
#define kWarps (kThreads / 32)
#define kAhead 4
#define kWordsAtOnce (kUnitWords < 4 ? kUnitWords : 4)
#define kPack (16 / (int)sizeof(Left))

// A unit of a column.
struct Unit {
  Pack<uint32, kWordsAtOnce> words[kUnitWords / kWordsAtOnce];
  CodeScale scale;
  CodeZero zero;
};
DEVICE Unit unit_at(const Compressed& codes, int column, int unit, int units) {
  const uint32* const from = codes.words + ((int64)column * units + unit) * kUnitWords;
  const int64 at = (int64)column * codes.blocks + (int)quotient((uint32)unit, codes.by_units);
  Unit made;
#pragma unroll
  for (int i = 0; i < kUnitWords / kWordsAtOnce; ++i) {
    made.words[i] = *(const Pack<uint32, kWordsAtOnce>*)(from + i * kWordsAtOnce);
  }
  made.scale = codes.scales[at];
  if (kHasZeros) made.zero = codes.zeros[at];
  return made;
}
// What a row has beside the codes of a unit, zeros where the depth has ended.
DEVICE void read_row(const Left* row, const Compressed& codes, int unit, int units, float* numbers) {
  if (kIsWhole) {
    Raw<Left, kPack> raw[kUnit / kPack] = {};
#pragma unroll
    for (int i = 0; i < kUnit / kPack; ++i) {
      if (unit < units) raw[i] = load_raw<Left, kPack>(row + unit * kUnit + i * kPack);
    }
#pragma unroll
    for (int i = 0; i < kUnit / kPack; ++i) {
      const Pack<Left, kPack> pack = unpacked(raw[i]);
#pragma unroll
      for (int e = 0; e < kPack; ++e) numbers[i * kPack + e] = widened(pack.e[e]);
    }
    return;
  }
  const int block = (int)quotient((uint32)unit, codes.by_units);
  const int first = (unit - block * (int)codes.by_units.divisor) * kUnit, size = (int)codes.by_block.divisor;
#pragma unroll
  for (int i = 0; i < kUnit; ++i) {
    const bool is_there = unit < units && first + i < size && block * size + first + i < codes.depth;
    numbers[i] = is_there ? widened(row[block * size + first + i]) : 0.0f;
  }
}
DEVICE float sum_of(const Compressed& codes, const Unit& unit, const float* numbers) {
  const BlockNumbers of = block_numbers(codes, unit.scale, unit.zero);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kUnit; ++i) {
    const int word = i / kCodesOfWord;
    const float weight = distance_of(unit.words[word / kWordsAtOnce].e[word % kWordsAtOnce], i % kCodesOfWord, of.zero);
    sum = fmaf(numbers[i], kIsExact ? weight * of.scale : weight, sum);
  }
  return kIsExact ? sum : sum * of.scale;
}

EARLY_KERNEL(kThreads) {
  const Compressed codes = compressed_of(p);
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const int first = ((int)block_x() * kWarps + warp) * kColumnsOfWarp;
  const int units = codes.blocks * (int)codes.by_units.divisor;
  Unit held[kAhead][kColumnsOfWarp];
  const auto read = [&](int ahead, int unit) {
#pragma unroll
    for (int c = 0; c < kColumnsOfWarp; ++c) {
      held[ahead][c] = unit_at(codes, first + c < kColumns ? first + c : kColumns - 1, unit < units ? unit : units - 1, units);
    }
  };
#pragma unroll
  for (int a = 0; a < kAhead; ++a) read(a, a * 32 + lane);
  AFTER_THE_ONE_BEFORE();
  float sums[kColumnsOfWarp][kRows] = {};
  for (int begin = 0; begin < units; begin += 32 * kAhead) {
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int unit = begin + a * 32 + lane;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        float numbers[kUnit];
        read_row(kLeft + (int64)r * codes.depth, codes, unit, units, numbers);
#pragma unroll
        for (int c = 0; c < kColumnsOfWarp; ++c) sums[c][r] += sum_of(codes, held[a][c], numbers);
      }
      if (begin + 32 * kAhead < units) read(a, unit + 32 * kAhead);
    }
  }
#pragma unroll
  for (int c = 0; c < kColumnsOfWarp; ++c) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float sum = warp_sum(sums[c][r]);
      if (lane == 0 && first + c < kColumns) finish(p, (uint32)(r * kColumns + first + c), Pack<float, 1>{{sum}});
    }
  }
}
