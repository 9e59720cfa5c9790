// Normalisation of rows of kLength neighbours. Factors and shifts change every kPerNumber elements and begin again after
// kNumbers of them.
#if kHeldPacks > 0
// A warp a row, of which each lane holds kHeldPacks packs in registers.
KERNEL(kThreads) {
  constexpr int kPack = 16 / (int)sizeof(T);
  const int lane = (int)thread_index() % 32;
  const uint32 row = block_x() * (kThreads / 32) + thread_index() / 32;
  if (row >= (uint32)kRows) return;
  const T* const from = kIn + (int64)row * kLength;
  float held[kHeldPacks][kPack];
  float mean = 0;
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    const int at = (k * 32 + lane) * kPack;
    Pack<T, kPack> pack = {};
    if (at < kLength) pack = load_pack<T, kPack>(from + at);
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      held[k][e] = widened(pack.e[e]);
      mean += held[k][e];
    }
  }
  mean = kIsRms ? 0.0f : warp_sum(mean) / (float)kLength;
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    const bool is_there = (k * 32 + lane) * kPack < kLength;
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      held[k][e] -= mean;
      if (is_there) squares += held[k][e] * held[k][e];
    }
  }
  const float factor = 1.0f / sqrtf(warp_sum(squares) / (float)kLength + kEpsilon);
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    const int at = (k * 32 + lane) * kPack;
    if (at >= kLength) break;
    Pack<T, kPack> pack;
    Pack<Scale, kPack> scale = {};
    Pack<Shift, kPack> shift = {};
    if (kHasScale) scale = load_pack<Scale, kPack>(kScale + at);
    if (kHasShift) shift = load_pack<Shift, kPack>(kShift + at);
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      float x = held[k][e] * factor;
      if (kHasScale) x *= widened(scale.e[e]);
      if (kHasShift) x += widened(shift.e[e]);
      pack.e[e] = Narrow<T>::of(x);
    }
    store_pack<T, kPack>(kOut + (int64)row * kLength + at, pack);
  }
}
#else
// A block a row.
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
#endif
