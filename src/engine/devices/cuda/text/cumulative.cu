// Sums of all elements up to each one, along the middle of [outer, kLength, kInner]; floats are added in float64. A
// thread a column, or, where columns are few and long, a block, which adds a piece of kThreads elements at a time.
DEVICE int64 place_of_step(const Params& p, int i) { return (int64)(kIsReverse ? kLength - 1 - i : i) * kInner.divisor; }

KERNEL(kThreads) {
  const uint32 column = kIsOfBlock ? block_x() : block_x() * kThreads + thread_index();
  if (column >= (uint32)kColumns) return;
  const uint32 outer = quotient(column, kInner);
  const int64 first = (int64)outer * kLength * kInner.divisor + (column - outer * kInner.divisor);
  const T* const from = kIn + first;
  T* const to = kOut + first;
#if kIsOfBlock
  SHARED Total sums[2][kThreads];
  SHARED Total carried;
  const int thread = (int)thread_index();
  if (thread == 0) carried = 0;
  for (int piece = 0; piece < kLength; piece += kThreads) {
    const int i = piece + thread;
    const Total own = i < kLength ? (Total)widened_element(from[place_of_step(p, i)]) : (Total)0;
    int side = 0;
    sums[side][thread] = own;
    meet();
    for (int distance = 1; distance < kThreads; distance *= 2) {
      const Total sum = sums[side][thread];
      sums[1 - side][thread] = thread >= distance ? sums[side][thread - distance] + sum : sum;
      side = 1 - side;
      meet();
    }
    const Total before = thread == 0 ? carried : carried + sums[side][thread - 1];
    const bool is_first = i == 0 && !kIsExclusive;  // -0 stays as it is
    if (i < kLength) to[place_of_step(p, i)] = narrowed_element(kIsExclusive ? before : is_first ? own : before + own);
    meet();
    if (thread == kThreads - 1) carried = before + own;
    meet();
  }
#else
  Total total = 0;
  for (int i = 0; i < kLength; ++i) {
    const int64 place = place_of_step(p, i);
    const Total own = (Total)widened_element(from[place]);
    const Total before = total;
    total = i == 0 && !kIsExclusive ? own : total + own;
    to[place] = narrowed_element(kIsExclusive ? before : total);
  }
#endif
}
