// Normalisation of rows of kLength neighbours, a block a row. Factors and shifts change every kPerNumber elements and
// begin again after kNumbers of them.
KERNEL(kThreads) {
  const T* const from = kIn + (int64)block_x() * kLength;
  T* const to = kOut + (int64)block_x() * kLength;
  float mean = 0;
  if (!kIsRms) {
    for (int i = (int)thread_index(); i < kLength; i += kThreads) mean += widened(from[i]);
    mean = block_sum(mean) / (float)kLength;
  }
  float squares = 0;
  for (int i = (int)thread_index(); i < kLength; i += kThreads) {
    const float x = widened(from[i]) - mean;
    squares += x * x;
  }
  const float factor = 1.0f / sqrtf(block_sum(squares) / (float)kLength + kEpsilon);
  const int place = kIsByGroup ? (int)(block_x() % (uint32)kGroups) * kPerGroup : 0;
  for (int i = (int)thread_index(); i < kLength; i += kThreads) {
    const int number = kIsByGroup ? place + (int)quotient((uint32)i, kPerNumber) : i;
    float x = (widened(from[i]) - mean) * factor;
    if (kHasScale) x *= widened(kScale[number]);
    if (kHasShift) x += widened(kShift[number]);
    to[i] = Narrow<T>::of(x);
  }
}
