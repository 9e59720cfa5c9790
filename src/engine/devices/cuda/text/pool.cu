// Pools over pictures, planes or with channels last; a thread a result, or kPack neighbouring channels of one. So many
// pixels of the window are read at once.
#define kTaps (kKernelHeight * kKernelWidth)
#define kAtOnce (kTaps < 9 ? kTaps : 9)
KERNEL(kThreads) {
  const uint32 result = (block_x() * kThreads + thread_index()) * kPack;
  if (result >= (uint32)kResults) return;
#if kIsPlain
  const uint32 line = quotient(result, kByWidth);
  const uint32 plane = quotient(line, kByHeight);
  const int y0 = (int)(line - plane * kByHeight.divisor) * kStrideY - kPadTop;
  const int x0 = (int)(result - line * kByWidth.divisor) * kStrideX - kPadLeft;
  const T* const from = kIn + (int64)plane * kHeight * kWidth;
  const uint32 pixel = 1;
#else
  const uint32 place = quotient(result, kByChannels);
  const uint32 channel = result - place * kByChannels.divisor;
  const uint32 line = quotient(place, kByWidth);
  const uint32 image = quotient(line, kByHeight);
  const uint32 plane = image * kByChannels.divisor + channel;
  const int y0 = (int)(line - image * kByHeight.divisor) * kStrideY - kPadTop;
  const int x0 = (int)(place - line * kByWidth.divisor) * kStrideX - kPadLeft;
  const T* const from = kIn + (int64)image * kHeight * kWidth * kByChannels.divisor + channel;
  const uint32 pixel = kByChannels.divisor;
#endif
  float kept[kPack];
  for (int e = 0; e < kPack; ++e) kept[e] = kIsMaximum ? kLeast : 0.0f;
  int count = 0;
  int64 best = 0;  // place in the plane
  for (int first = 0; first < kTaps; first += kAtOnce) {
    Raw<T, kPack> seen[kAtOnce];
    int64 places[kAtOnce];  // in the plane; below 0: outside
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int tap = first + i, y = y0 + tap / kKernelWidth * kDilationY, x = x0 + tap % kKernelWidth * kDilationX;
      const bool is_there = tap < kTaps && (uint32)y < (uint32)kHeight && (uint32)x < (uint32)kWidth;
      places[i] = is_there ? kGivesPlaces && kIsColumnMajor ? (int64)x * kHeight + y : (int64)y * kWidth + x : -1;
      if (is_there) seen[i] = load_raw<T, kPack>(from + ((int64)y * kWidth + x) * pixel);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (places[i] < 0) continue;
      const Pack<T, kPack> pack = unpacked(seen[i]);
#if kGivesPlaces
      const float one = widened(pack.e[0]);
      const bool is_better = kept[0] == kept[0] && (one != one || one > kept[0]);
      if (count == 0 || is_better) best = places[i];
#endif
#pragma unroll
      for (int e = 0; e < kPack; ++e) {
        const float element = widened(pack.e[e]);
        kept[e] = kIsMaximum ? larger(kept[e], element) : kept[e] + element;
      }
      ++count;
    }
  }
  Pack<T, kPack> made;
#pragma unroll
  for (int e = 0; e < kPack; ++e) {
    if (!kIsMaximum) kept[e] /= (float)(kCountsPadding ? kKernelHeight * kKernelWidth : count);
    made.e[e] = Narrow<T>::of(kept[e]);
  }
  store_pack<T, kPack>(kOut + result, made);
#if kGivesPlaces
  kPlaces[result] = (int64)plane * kHeight * kWidth + best;
#endif
}
