// Products of kRows rows, eight at most, by constant columns, each of whose elements is read once, as fast as memory gives
// them. A block takes kTogether units of eight columns at a time. kSlices warps share the depth of each, in steps that a
// warp moves into memory of its own, kStages ahead, the first of them before the launch before has ended; tensor cores
// multiply. Columns are elements of T, or, beside rows of float16, codes of kBits with a scale for each kBlock and one
// zero point (kIsOfCodes). A step has kStepDepth of the depth: kColumnBytes of each column, with room that puts columns
// into other banks, and kStageBytes with the scales behind them.
#define kUnit 8      // columns
#define kGranule 32  // of the depth: what a lane reads at once of a row, in the order in which it multiplies
#define kTogether (kWarps / kSlices)
#define kWarps (kThreads / 32)
#define kResults (kTogether * kUnit * kRows)
#define kEach ((kResults + kThreads - 1) / kThreads)  // of a thread

#if kIsOfCodes
#define kScales (kStepDepth / kBlock)
#define kScaleWords (kScales * (int)sizeof(CodeScale) / 4)  // of a column
#define kScalePlace (kUnit * kColumnBytes)

typedef Compressed Weights;
DEVICE Weights weights_of(const Params& p) { return compressed_of(p); }
DEVICE void copy_step(const Params& p, const Weights& weights, unsigned char* to, int unit, int step) {
  const int lane = (int)thread_index() % 32;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int column = i * 4 + lane / 8, part = lane % 8, k = step * kStepDepth + part * (128 / kBits);
    const int64 at = ((int64)(unit * kUnit + column) * kDepth + k) * kBits / 32;
    copy_or_zero(to + column * kColumnBytes + part * 16, weights.words + at, unit * kUnit + column < kColumns && k < kDepth);
  }
#pragma unroll
  for (int i = 0; i < kUnit * kScaleWords; i += 32) {
    const int column = (i + lane) / kScaleWords, part = (i + lane) % kScaleWords;
    if (column >= kUnit) break;
    const uint32* const scales = (const uint32*)(weights.scales + (int64)(unit * kUnit + column) * weights.blocks);
    const bool is_there = unit * kUnit + column < kColumns && step * kScales + part * kScales / kScaleWords < weights.blocks;
    copy_word_or_zero(to + kScalePlace + (i + lane) * 4, scales + step * kScaleWords + part, is_there);
  }
}
// Codes are put behind the leading bits of 1024, of float16; what is taken off then is that number and the zero point.
#define kBase 0x64006400u
DEVICE void unpack(const unsigned char* from, int granule, uint32 zeros, uint32* to) {
  const int lane = (int)thread_index() % 32;
  const unsigned char* const column = from + lane / 4 * kColumnBytes + granule * (kGranule * kBits / 8);
  const uint32* const words = (const uint32*)column + lane % 4 * (kBits / 4);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#if kBits == 4
    const uint32 pair = words[0] >> (4 * i) & 0x000f000fu;
#else
    const uint32 two = words[i / 2] >> (i % 2 * 16), pair = (two & 0xffu) | (two & 0xff00u) << 8;
#endif
    to[i] = pair_less(pair | kBase, zeros);
  }
}
#if kBits == 4
// The place of what is read with the n-th pair of codes.
#define kFirstOfPair(n) (n)
#define kSecondOfPair(n) ((n) + 4)
#else
#define kFirstOfPair(n) (2 * (n))
#define kSecondOfPair(n) (2 * (n) + 1)
#endif
DEVICE void keep_left(uint32* granule, int part, const Raw<T, 8>& raw) {
  const auto bits = [&](int i) { return raw.words[i / 2] >> (i % 2 * 16) & 0xffffu; };
  Pack<uint32, 4> words;
#pragma unroll
  for (int n = 0; n < 4; ++n) words.e[n] = bits(kFirstOfPair(n)) | bits(kSecondOfPair(n)) << 16;
  *(Pack<uint32, 4>*)(granule + part * 4) = words;
}
#else

struct Weights {
  const T* first;
};
DEVICE Weights weights_of(const Params& p) { return {kRight}; }
DEVICE void copy_step(const Params& p, const Weights& weights, unsigned char* to, int unit, int step) {
  const int lane = (int)thread_index() % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column = i * 2 + lane / 16, part = lane % 16, k = step * kStepDepth + part * 8;
    const T* const from = weights.first + (int64)(unit * kUnit + column) * kRightColumn + k;
    copy_or_zero(to + column * kColumnBytes + part * 16, from, unit * kUnit + column < kColumns && k < kDepth);
  }
}
DEVICE void keep_left(uint32* granule, int part, const Raw<T, 8>& raw) {
#pragma unroll
  for (int j = 0; j < 4; ++j) granule[j * 4 + part] = raw.words[j];
}
#endif

// Adds the products of a granule: rows of the left that are not there are zero.
DEVICE void multiply_granule(const Pack<uint32, 4>& left, const uint32* right, float* sums) {
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const uint32 a[4] = {left.e[i], 0, left.e[i + 1], 0};
    multiply_add(sums, a, right + i, T());
  }
}
// `left`: words of the lane's row, from the step on; null: it has none.
DEVICE void multiply_step(const Weights& weights, const unsigned char* from, const uint32* left, float* sums) {
  const int lane = (int)thread_index() % 32;
#if kIsOfCodes
  const uint32 zeros = kBase + (uint32)(int)weights.zero * 0x00010001u;
  const CodeScale* const scales = (const CodeScale*)(from + kScalePlace) + lane % 4 * 2 * kScales;
  float part[4] = {};
#endif
#pragma unroll
  for (int granule = 0; granule < kStepDepth / kGranule; ++granule) {
    Pack<uint32, 4> words = {};
    if (left != nullptr) words = *(const Pack<uint32, 4>*)(left + granule * (kGranule / 2) + lane % 4 * 4);
    uint32 right[4];
#if kIsOfCodes
    unpack(from, granule, zeros, right);
    multiply_granule(words, right, part);
    if ((granule + 1) % (kBlock / kGranule) != 0) continue;
    const int block = granule / (kBlock / kGranule);
    sums[0] = fmaf(part[0], widened(scales[block]), sums[0]);
    sums[1] = fmaf(part[1], widened(scales[kScales + block]), sums[1]);
#pragma unroll
    for (int i = 0; i < 4; ++i) part[i] = 0;
#else
    load_four(right, from + lane % 8 * kColumnBytes + granule * (kGranule * 2) + lane / 8 * 16);
    multiply_granule(words, right, sums);
#endif
  }
}

EARLY_KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  const int lane = (int)thread_index() % 32, warp = warp_index(), slice = warp % kSlices;
  const Weights weights = weights_of(p);
  uint32* const left = (uint32*)memory;
  unsigned char* const stages = memory + kLeftBytes + warp * (kStages * kStageBytes);
  float* const joined = (float*)(memory + kLeftBytes + kWarps * kStages * kStageBytes);
  const int units = (kColumns + kUnit - 1) / kUnit, turns = (int)blocks_x() * kTogether;
  const int steps = (kDepth + kStepDepth - 1) / kStepDepth;
  const int begin = steps * slice / kSlices, end = steps * (slice + 1) / kSlices;
  const int first = (int)block_x() * kTogether;
  int next_unit = first + warp / kSlices, next_step = begin;
  const auto copy_next = [&](int stage) {
    if (next_unit < units && begin < end) {
      copy_step(p, weights, stages + stage * kStageBytes, next_unit, next_step);
      if (++next_step == end) {
        next_step = begin;
        next_unit += turns;
      }
    }
    end_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages; ++stage) copy_next(stage);
  AFTER_THE_ONE_BEFORE();
  const int packs = steps * (kStepDepth / 8);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < packs; pack += kThreads) {
      Raw<T, 8> raw = {};
      if (pack * 8 < kDepth) raw = load_raw<T, 8>(kLeft + (int64)r * kLeftRow + pack * 8);
      keep_left(left + r * kLeftStride + pack / 4 * (kGranule / 2), pack % 4, raw);
    }
  }
  meet();
  const uint32* const own = lane / 4 < kRows ? left + lane / 4 * kLeftStride : nullptr;
  int stage = 0, turn = 0;
#pragma unroll 1
  for (int at = first; at < units; at += turns) {
    const auto column_of = [&](int result) { return (at + result / (kUnit * kRows)) * kUnit + result % kUnit; };
    Operands operands[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int result = (int)thread_index() + i * kThreads;
      const bool is_there = result < kResults && column_of(result) < kColumns;
      operands[i] = operands_of(p, is_there ? (uint32)(result / kUnit % kRows * kColumns + column_of(result)) : 0);
    }
    float sums[4] = {};
    if (at + warp / kSlices < units) {
#pragma unroll 1
      for (int step = begin; step < end; ++step) {
        wait_copies<kStages - 1>();
        meet_warp();
        multiply_step(weights, stages + stage * kStageBytes, own == nullptr ? own : own + step * (kStepDepth / 2), sums);
        meet_warp();
        copy_next(stage);
        if (++stage == kStages) stage = 0;
      }
    }
    float* const parts = joined + turn * (kWarps * kRows * kUnit);
    if (own != nullptr) {
      *(Pack<float, 2>*)(parts + (warp * kRows + lane / 4) * kUnit + lane % 4 * 2) = {sums[0], sums[1]};
    }
    meet();
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int result = (int)thread_index() + i * kThreads;
      if (result >= kResults || column_of(result) >= kColumns) continue;
      const float* const of_result = parts + result / (kUnit * kRows) * (kSlices * kRows * kUnit) + result % (kUnit * kRows);
      float sum = 0;
#pragma unroll
      for (int s = 0; s < kSlices; ++s) sum += of_result[s * (kRows * kUnit)];
      finish(p, Pack<float, 1>{{sum}}, operands[i]);
    }
    turn ^= 1;
  }
}
