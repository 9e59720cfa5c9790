// DynamicQuantizeLinear: the range of all elements, by blocks, then each block joins these.
KERNEL(kThreads) {
  const int thread = (int)thread_index();
  Range range = {0, 0};
#if kFindsRange
  for (int64 i = (int64)block_x() * kThreads + thread; i < kElements; i += (int64)blocks_x() * kThreads) {
    range.low = low_of(range.low, kIn[i]);
    range.high = high_of(range.high, kIn[i]);
  }
  range = block_range(range);
  if (thread == 0) {
    kLows[block_x()] = range.low;
    kHighs[block_x()] = range.high;
  }
#else
  for (int i = thread; i < kRanges; i += kThreads) {
    range.low = low_of(range.low, kLows[i]);
    range.high = high_of(range.high, kHighs[i]);
  }
  const Coding coding = coding_of(block_range(range));
  const int64 first = ((int64)block_x() * kThreads + thread) * 4;
  for (int64 i = first; i < first + 4 && i < kElements; ++i) kOut[i] = code_of(kIn[i], coding);
  if (block_x() == 0 && thread == 0) {
    *kScale = coding.scale;
    *kZero = (uint8)coding.zero;
  }
#endif
}
