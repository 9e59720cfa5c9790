// Weights of 4 or 8 bits: a column is blocks of whole units of kUnit codes, each block has a scale and a zero point.
#define kCodesOfWord (32 / kBits)
#define kUnitWords (kUnit / kCodesOfWord)

struct Compressed {
  const uint32* words;
  const CodeScale* scales;
  const CodeZero* zeros;
  Divisor by_block, by_units;  // rows of a block, and its units
  int depth, blocks;
  float zero;
};

// The numbers of a block: the zero point is 2^23 more where it is whole, as codes are that become floats by their bits.
struct BlockNumbers {
  float scale, zero;
};
DEVICE BlockNumbers block_numbers(const Compressed& codes, CodeScale scale, CodeZero zero) {
  BlockNumbers numbers = {widened(scale), kHasZeros ? widened(zero) : codes.zero};
  if (kAreZerosWhole) numbers.zero += 8388608.0f;
  return numbers;
}
DEVICE BlockNumbers numbers_of(const Compressed& codes, int column, int block) {
  const int64 at = (int64)column * codes.blocks + block;
  return block_numbers(codes, codes.scales[at], kHasZeros ? codes.zeros[at] : CodeZero());
}
// Code `i` of a word, less the zero point.
DEVICE float distance_of(uint32 word, int i, float zero) {
  const float code = float_of_bits(0x4b000000u | (word >> (i * kBits) & ((1u << kBits) - 1)));
  return kAreZerosWhole ? code - zero : code - 8388608.0f - zero;
}
DEVICE float weight_at(const Compressed& codes, int column, int k) {
  const int block = (int)quotient((uint32)k, codes.by_block);
  const int units = (int)codes.by_units.divisor;
  const int at = (k - block * (int)codes.by_block.divisor) + block * units * kUnit;
  const int64 first = (int64)column * codes.blocks * units * kUnitWords;
  const BlockNumbers numbers = numbers_of(codes, column, block);
  return distance_of(codes.words[first + at / kCodesOfWord], at % kCodesOfWord, numbers.zero) * numbers.scale;
}
// Four weights of a column, of which the first has a place that is a multiple of four.
DEVICE Pack<float, 4> four_weights(const Compressed& codes, int column, int k) {
  Pack<float, 4> made;
  if (!kIsBlockEven || k + 4 > codes.depth) {
    for (int e = 0; e < 4; ++e) made.e[e] = k + e < codes.depth ? weight_at(codes, column, k + e) : 0.0f;
    return made;
  }
  const int block = (int)quotient((uint32)k, codes.by_block);
  const int units = (int)codes.by_units.divisor;
  const int at = (k - block * (int)codes.by_block.divisor) + block * units * kUnit;
  const int64 first = (int64)column * codes.blocks * units * kUnitWords;
  const BlockNumbers numbers = numbers_of(codes, column, block);
  const uint32 word = codes.words[first + at / kCodesOfWord];
#pragma unroll
  for (int e = 0; e < 4; ++e) made.e[e] = distance_of(word, at % kCodesOfWord + e, numbers.zero) * numbers.scale;
  return made;
}
