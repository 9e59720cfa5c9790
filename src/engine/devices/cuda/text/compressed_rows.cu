// Products of kRows rows by compressed weights, whose codes are read once, as fast as memory gives them: a warp has
// kColumnsOfWarp columns, of which each lane takes a unit at a time. Rows go through shared memory.
#define kWarps (kThreads / 32)
#define kChunk (32 * kUnit)
#define kPitch (kUnit + 4)  // so that the units of lanes lie in other banks

KERNEL(kThreads) {
  SHARED Pack<float, 4> packs[kRows * 32 * kPitch / 4];
  float* const numbers = packs[0].e;
  const Compressed codes = compressed_of(p);
  const int thread = (int)thread_index(), lane = thread % 32, warp = thread / 32;
  const int first = ((int)block_x() * kWarps + warp) * kColumnsOfWarp;
  const int units = codes.blocks * (int)codes.by_units.divisor;
  float sums[kColumnsOfWarp][kRows];
#pragma unroll
  for (int c = 0; c < kColumnsOfWarp; ++c) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) sums[c][r] = 0;
  }
  for (int begin = 0; begin < units; begin += 32) {
    meet();
    for (int i = thread; i < kRows * kChunk; i += kThreads) {
      const int row = i / kChunk, unit = begin + i % kChunk / kUnit;
      const int block = (int)quotient((uint32)unit, codes.by_units);
      const int offset = (unit - block * (int)codes.by_units.divisor) * kUnit + i % kUnit;
      const int k = block * (int)codes.by_block.divisor + offset;
      const bool is_there = offset < (int)codes.by_block.divisor && k < codes.depth;
      numbers[(row * 32 + i % kChunk / kUnit) * kPitch + i % kUnit] = is_there ? widened(kLeft[(int64)row * codes.depth + k]) : 0.0f;
    }
    meet();
    const int unit = begin + lane;
    if (unit >= units) continue;
    const int block = (int)quotient((uint32)unit, codes.by_units);
#pragma unroll
    for (int c = 0; c < kColumnsOfWarp; ++c) {
      if (first + c >= kColumns) continue;
      const BlockNumbers of = numbers_of(codes, first + c, block);
      const uint32* const from = codes.words + ((int64)(first + c) * units + unit) * kUnitWords;
      uint32 words[kUnitWords];
      const int kAtOnce = kUnitWords < 4 ? kUnitWords : 4;
#pragma unroll
      for (int w = 0; w < kUnitWords; w += kAtOnce) {
        const Pack<uint32, kAtOnce> pack = load_pack<uint32, kAtOnce>(from + w);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) words[w + i] = pack.e[i];
      }
      float parts[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) parts[r] = 0;
#pragma unroll
      for (int i = 0; i < kUnit; i += 4) {
        float weights[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          weights[e] = distance_of(words[i / kCodesOfWord], i % kCodesOfWord + e, of.zero);
          if (kIsExact) weights[e] *= of.scale;
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const Pack<float, 4> x = load_pack<float, 4>(numbers + (r * 32 + lane) * kPitch + i);
#pragma unroll
          for (int e = 0; e < 4; ++e) parts[r] = fmaf(x.e[e], weights[e], parts[r]);
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[c][r] += kIsExact ? parts[r] : parts[r] * of.scale;
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
