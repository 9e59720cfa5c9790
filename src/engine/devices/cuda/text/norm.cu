// Normalisation of rows of kLength neighbours. Factors and shifts change every kPerNumber elements and begin again after
// kNumbers of them. kIsNear: factors may be off by some units.
#define FACTOR(squares) norm_factor(squares, (float)kLength, kShare, kEpsilon, kIsNear)
#if kHeldPacks > 0
// The pack that lies there, if it is one of a row of that length.
template <typename N, int kPack>
DEVICE Raw<N, kPack> raw_at(const N* from, int at, int length) {
  Raw<N, kPack> raw = {};
  if (at < length) raw = load_raw<N, kPack>(from + at);
  return raw;
}

// A warp a row, of which each lane holds kHeldPacks packs in registers. Where kReadsEarly, factors and shifts are
// constants: they are read before the kernel before has ended.
EARLY_KERNEL(kThreads) {
  constexpr int kPack = 16 / (int)sizeof(T);
  const int lane = (int)thread_index() % 32;
  Raw<Scale, kPack> scales[kHeldPacks];
  Raw<Shift, kPack> shifts[kHeldPacks];
  if (kReadsEarly) {
#pragma unroll
    for (int k = 0; k < kHeldPacks; ++k) {
      if (kHasScale) scales[k] = raw_at<Scale, kPack>(kScale, (k * 32 + lane) * kPack, kLength);
      if (kHasShift) shifts[k] = raw_at<Shift, kPack>(kShift, (k * 32 + lane) * kPack, kLength);
    }
  }
  AFTER_THE_ONE_BEFORE();
  const uint32 row = block_x() * (kThreads / 32) + thread_index() / 32;
  if (row >= (uint32)kRows) return;
  const T* const from = kIn + (int64)row * kLength;
  Raw<T, kPack> read[kHeldPacks];
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) read[k] = raw_at<T, kPack>(from, (k * 32 + lane) * kPack, kLength);
  float held[kHeldPacks][kPack];
  float mean = 0;  // sums of packs do not wait for each other
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    const Pack<T, kPack> pack = unpacked(read[k]);
    float sum = 0;
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      held[k][e] = widened(pack.e[e]);
      sum += held[k][e];
    }
    mean += sum;
  }
  mean = kIsRms ? 0.0f : warp_sum(mean) / (float)kLength;
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    float sum = 0;
#pragma unroll
    for (int e = 0; e < kPack; ++e) {
      held[k][e] -= mean;
      sum += held[k][e] * held[k][e];
    }
    if ((k * 32 + lane) * kPack < kLength) squares += sum;
  }
  const float factor = FACTOR(warp_sum(squares));
#pragma unroll
  for (int k = 0; k < kHeldPacks; ++k) {
    const int at = (k * 32 + lane) * kPack;
    if (at >= kLength) break;
    Pack<T, kPack> pack;
    if (kHasScale && !kReadsEarly) scales[k] = raw_at<Scale, kPack>(kScale, at, kLength);
    if (kHasShift && !kReadsEarly) shifts[k] = raw_at<Shift, kPack>(kShift, at, kLength);
    Pack<Scale, kPack> scale;
    Pack<Shift, kPack> shift;
    if (kHasScale) scale = unpacked(scales[k]);
    if (kHasShift) shift = unpacked(shifts[k]);
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
  const float factor = FACTOR(block_sum(squares));
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
