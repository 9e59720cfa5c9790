// Products of kRows rows, eight at most, by constant columns, each of whose elements is read once, as fast as memory gives
// them. A block takes kTogether units of eight columns at a time. kSlices warps share the depth of each, in steps that a
// warp moves into memory of its own, kStages ahead, the first of them before the launch before has ended; tensor cores
// multiply. Columns are elements of T, or, beside rows of float16, codes of kBits with a scale for each kBlock and one
// zero point (kIsOfCodes). A step has kStepDepth of the depth: kColumnBytes of each column, with room that puts columns
// into other banks, and kStageBytes with the scales behind them. Each block normalises the rows first where kIsNormed.
// Where kIsGated, results are made of a column of either half: units of both stand in turns.
#define kUnit 8      // columns
#define kGranule 32  // of the depth: what a lane reads at once of a row, in the order in which it multiplies
#define kTogether (kWarps / kSlices)
#define kWarps (kThreads / 32)
#define kSums (kIsGated ? 2 : 1)  // of a result
#define kResults (kTogether / kSums * kUnit * kRows)
#define kEach ((kResults + kThreads - 1) / kThreads)  // of a thread

// Columns of a unit, from the first on.
struct Unit {
  int first, count;
};
DEVICE Unit unit_at(const Params& p, int number) {
  const int columns = kColumns / kSums, first = number / kSums * kUnit;
  return {first + number % kSums * columns, columns - first};
}

#if kIsOfCodes
#define kScales (kStepDepth / kBlock)
#define kScaleWords (kScales * (int)sizeof(CodeScale) / 4)  // of a column
#define kScalePlace (kUnit * kColumnBytes)

typedef Compressed Weights;
DEVICE Weights weights_of(const Params& p) { return compressed_of(p); }
DEVICE void copy_step(const Params& p, const Weights& weights, unsigned char* to, int unit, int step) {
  const int lane = (int)thread_index() % 32;
  const Unit columns = unit_at(p, unit);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int column = i * 4 + lane / 8, part = lane % 8, k = step * kStepDepth + part * (128 / kBits);
    const int64 at = ((int64)(columns.first + column) * kDepth + k) * kBits / 32;
    copy_or_zero(to + column * kColumnBytes + part * 16, weights.words + at, column < columns.count && k < kDepth);
  }
#pragma unroll
  for (int i = 0; i < kUnit * kScaleWords; i += 32) {
    const int column = (i + lane) / kScaleWords, part = (i + lane) % kScaleWords;
    if (column >= kUnit) break;
    const uint32* const scales = (const uint32*)(weights.scales + (int64)(columns.first + column) * weights.blocks);
    const bool is_there = column < columns.count && step * kScales + part * kScales / kScaleWords < weights.blocks;
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
  const Unit columns = unit_at(p, unit);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column = i * 2 + lane / 16, part = lane % 16, k = step * kStepDepth + part * 8;
    const T* const from = weights.first + (int64)(columns.first + column) * kRightColumn + k;
    copy_or_zero(to + column * kColumnBytes + part * 16, from, column < columns.count && k < kDepth);
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

#if kIsNormed
#define kPacks ((kDepthPacks + kThreads - 1) / kThreads)  // of a row, of a thread
// Adds up what all threads have, row by row; `memory`: room for kRows numbers of each warp.
DEVICE void sum_rows(float* of_rows, float* memory) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = warp_sum(of_rows[r]);
    if (thread_index() % 32 == 0) memory[(int)thread_index() / 32 * kRows + r] = sum;
  }
  meet();
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    of_rows[r] = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) of_rows[r] += memory[warp * kRows + r];
  }
}
// Factors and shifts of the thread's elements: constants, which are read before the launch before has ended.
struct Factors {
  Raw<Scale, 8> scales[kHasScale ? kPacks : 1];
  Raw<Shift, 8> shifts[kHasShift ? kPacks : 1];
};
DEVICE Factors factors_of(const Params& p) {
  Factors factors;
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    const int pack = (int)thread_index() + i * kThreads;
    if (pack >= kDepthPacks) continue;
    if constexpr (kHasScale) factors.scales[i] = load_raw<Scale, 8>(kScale + pack * 8);
    if constexpr (kHasShift) factors.shifts[i] = load_raw<Shift, 8>(kShift + pack * 8);
  }
  return factors;
}
// A pack of what a row becomes.
DEVICE Raw<T, 8> normalised(const float* x, const Factors& factors, int i, float factor) {
  Pack<Scale, 8> scale;
  Pack<Shift, 8> shift;
  if constexpr (kHasScale) scale = unpacked(factors.scales[i]);
  if constexpr (kHasShift) shift = unpacked(factors.shifts[i]);
  Raw<T, 8> made;
#pragma unroll
  for (int e = 0; e < 8; e += 2) {
    float pair[2] = {x[e] * factor, x[e + 1] * factor};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      if constexpr (kHasScale) pair[n] *= widened(scale.e[e + n]);
      if constexpr (kHasShift) pair[n] += widened(shift.e[e + n]);
    }
    made.words[e / 2] = (uint32)Narrow<T>::of(pair[0]).bits | (uint32)Narrow<T>::of(pair[1]).bits << 16;
  }
  return made;
}
// `memory`: room for two numbers of each row and warp.
DEVICE void keep_rows(const Params& p, const Factors& factors, uint32* left, float* memory) {
  float held[kRows][kPacks][8], sums[kRows], squares[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int pack = (int)thread_index() + i * kThreads;
      Raw<T, 8> raw = {};
      if (pack < kDepthPacks) raw = load_raw<T, 8>(kLeft + (int64)r * kLeftRow + pack * 8);
      const Pack<T, 8> elements = unpacked(raw);
#pragma unroll
      for (int e = 0; e < 8; ++e) held[r][i][e] = widened(elements.e[e]);
    }
  }
  if (!kIsRms) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      sums[r] = 0;
#pragma unroll
      for (int i = 0; i < kPacks * 8; ++i) sums[r] += held[r][i / 8][i % 8];
    }
    sum_rows(sums, memory);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float mean = kIsRms ? 0.0f : sums[r] / (float)kDepth;
    squares[r] = 0;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const bool is_there = (int)thread_index() + i * kThreads < kDepthPacks;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        held[r][i][e] -= mean;
        if (is_there) squares[r] += held[r][i][e] * held[r][i][e];
      }
    }
  }
  sum_rows(squares, memory + kWarps * kRows);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float factor = norm_factor(squares[r], (float)kDepth, kShare, kEpsilon, kIsNear);
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int pack = (int)thread_index() + i * kThreads;
      if (pack < kDepthPacks) {
        keep_left(left + r * kLeftStride + pack / 4 * (kGranule / 2), pack % 4, normalised(held[r][i], factors, i, factor));
      } else if (pack < kStepPacks) {
        keep_left(left + r * kLeftStride + pack / 4 * (kGranule / 2), pack % 4, Raw<T, 8>{});
      }
    }
  }
}
#else
struct Factors {};
DEVICE Factors factors_of(const Params&) { return {}; }
DEVICE void keep_rows(const Params& p, const Factors&, uint32* left, float*) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll 2
    for (int pack = (int)thread_index(); pack < kStepPacks; pack += kThreads) {
      Raw<T, 8> raw = {};
      if (pack * 8 < kDepth) raw = load_raw<T, 8>(kLeft + (int64)r * kLeftRow + pack * 8);
      keep_left(left + r * kLeftStride + pack / 4 * (kGranule / 2), pack % 4, raw);
    }
  }
}
#endif

EARLY_KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  const int lane = (int)thread_index() % 32, warp = warp_index(), slice = warp % kSlices;
  const Weights weights = weights_of(p);
  uint32* const left = (uint32*)memory;
  unsigned char* const stages = memory + kLeftBytes + warp * (kStages * kStageBytes);
  float* const joined = (float*)(memory + kLeftBytes + kWarps * kStages * kStageBytes);
  const int units = (kColumns / kSums + kUnit - 1) / kUnit * kSums, turns = (int)blocks_x() * kTogether;
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
  const Factors factors = factors_of(p);
  if (!kIsOfCodes) LET_THE_NEXT_BEGIN();
  AFTER_THE_ONE_BEFORE();
  keep_rows(p, factors, left, joined);
  meet();
  const uint32* const own = lane / 4 < kRows ? left + lane / 4 * kLeftStride : nullptr;
  int stage = 0, turn = 0;
#pragma unroll 1
  for (int at = first; at < units; at += turns) {
    // Results are numbered by the units of their first sums, rows and columns.
    struct Place {
      int column;
      bool is_there;
    };
    const auto place_of = [&](int result) {
      const int number = at + result / (kUnit * kRows) * kSums, column = result % kUnit;
      const Unit unit = unit_at(p, number);
      return Place{unit.first + column, result < kResults && number < units && column < unit.count};
    };
    Operands operands[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int result = (int)thread_index() + i * kThreads;
      const Place place = place_of(result);
      operands[i] = operands_of(p, place.is_there ? (uint32)(result / kUnit % kRows * (kColumns / kSums) + place.column) : 0);
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
      if (!place_of(result).is_there) continue;
      Pack<float, kSums> made = {};
#pragma unroll
      for (int sum = 0; sum < kSums; ++sum) {
        const float* const of_sum = parts + (result / (kUnit * kRows) * kSums + sum) * (kSlices * kRows * kUnit);
#pragma unroll
        for (int s = 0; s < kSlices; ++s) made.e[sum] += of_sum[s * (kRows * kUnit) + result % (kUnit * kRows)];
      }
      finish(p, made, operands[i]);
    }
    turn ^= 1;
  }
}
