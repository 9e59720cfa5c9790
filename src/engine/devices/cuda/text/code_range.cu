// The codes that DynamicQuantizeLinear gives numbers, by their least and their greatest one. What is no number counts
// nothing.
DEVICE float low_of(float a, float b) { return b < a ? b : a; }
DEVICE float high_of(float a, float b) { return b > a ? b : a; }

struct Range {
  float low, high;
};
// The range of those of a block's threads, a power of two; the block meets before the next call.
DEVICE Range block_range(Range own) {
  SHARED float lows[kThreads];
  SHARED float highs[kThreads];
  const int thread = (int)thread_index();
  lows[thread] = own.low;
  highs[thread] = own.high;
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    meet();
    if (thread < distance) {
      lows[thread] = low_of(lows[thread], lows[thread + distance]);
      highs[thread] = high_of(highs[thread], highs[thread + distance]);
    }
  }
  meet();
  return {lows[0], highs[0]};
}

struct Coding {
  float scale, zero;
};
DEVICE Coding coding_of(Range range) {
  const float scale = range.high != range.low ? (range.high - range.low) / 255.0f : 1.0f;
  const float code = rintf(-range.low / scale);
  return {scale, code > 0 ? smaller(code, 255.0f) : 0.0f};
}
DEVICE uint8 code_of(float x, Coding coding) { return (uint8)quantize_unsigned(x, coding.scale, coding.zero); }
