// The place of the greatest or least element along [outer, kReduced, kInner]; a thread a result.
KERNEL(kThreads) {
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  const uint32 outer = quotient(result, kInner);
  const T* const from = kIn + (int64)outer * kReduced * kInner.divisor + (result - outer * kInner.divisor);
  const auto at = [&](int i) {
#if kIsFloat
    return widened(from[(int64)i * kInner.divisor]);
#else
    return from[(int64)i * kInner.divisor];
#endif
  };
  int best = 0;
  auto most = at(0);
  for (int i = 1; i < kReduced; ++i) {
    const auto x = at(i);
    const bool is_equal = x == most || (x != x && most != most);
    const bool is_better = most == most && (x != x || (kIsMaximum ? x > most : x < most));
    if (is_better || (kTakesLast && is_equal)) {
      best = i;
      most = x;
    }
  }
  kOut[result] = best;
}
