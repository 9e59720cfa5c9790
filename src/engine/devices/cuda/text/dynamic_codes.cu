// The codes that DynamicQuantizeLinear makes: the range of all elements, by blocks, then each block joins these.
DEVICE float low_of(float a, float b) { return b < a ? b : a; }  // what is no number counts nothing
DEVICE float high_of(float a, float b) { return b > a ? b : a; }

KERNEL(kThreads) {
  SHARED float lows[kThreads];
  SHARED float highs[kThreads];
  const int thread = (int)thread_index();
  float low = 0, high = 0;
#if kFindsRange
  for (int64 i = (int64)block_x() * kThreads + thread; i < kElements; i += (int64)blocks_x() * kThreads) {
    low = low_of(low, kIn[i]);
    high = high_of(high, kIn[i]);
  }
#else
  for (int i = thread; i < kRanges; i += kThreads) {
    low = low_of(low, kLows[i]);
    high = high_of(high, kHighs[i]);
  }
#endif
  lows[thread] = low;
  highs[thread] = high;
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    meet();
    if (thread < distance) {
      lows[thread] = low_of(lows[thread], lows[thread + distance]);
      highs[thread] = high_of(highs[thread], highs[thread + distance]);
    }
  }
  meet();
#if kFindsRange
  if (thread == 0) {
    kLows[block_x()] = lows[0];
    kHighs[block_x()] = highs[0];
  }
#else
  const float scale = highs[0] != lows[0] ? (highs[0] - lows[0]) / 255.0f : 1.0f;
  const float code = rintf(-lows[0] / scale);
  const float zero = code > 0 ? smaller(code, 255.0f) : 0.0f;
  const int64 first = ((int64)block_x() * kThreads + thread) * 4;
  for (int64 i = first; i < first + 4 && i < kElements; ++i) kOut[i] = (uint8)quantize_unsigned(kIn[i], scale, zero);
  if (block_x() == 0 && thread == 0) {
    *kScale = scale;
    *kZero = (uint8)zero;
  }
#endif
}
