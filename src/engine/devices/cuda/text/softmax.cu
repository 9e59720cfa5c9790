// Softmax, or its logarithm, along kLength elements that are `inner` apart: a block a row.
KERNEL(kThreads) {
  const uint32 row = block_x();
  const uint32 outer = quotient(row, kInner);
  const int64 first = (int64)outer * kLength * (int64)kInner.divisor + (row - outer * kInner.divisor);
  const T* const from = kIn + first;
  T* const to = kOut + first;
  const int64 step = kInner.divisor;
  float largest = -kInfinity;
  for (int i = (int)thread_index(); i < kLength; i += kThreads) largest = larger(largest, widened(from[i * step]));
  largest = block_largest(largest);
  float sum = 0;
  for (int i = (int)thread_index(); i < kLength; i += kThreads) sum += expf(widened(from[i * step]) - largest);
  sum = block_sum(sum);
  const float share = kIsLog ? logf(sum) : 1.0f / sum;
  for (int i = (int)thread_index(); i < kLength; i += kThreads) {
    const float x = widened(from[i * step]) - largest;
    to[i * step] = Narrow<T>::of(kIsLog ? x - share : expf(x) * share);
  }
}
