// Pools over pictures, planes or with channels last; a thread a result, or kPack neighbouring channels of one.
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
  for (int ky = 0; ky < kKernelHeight; ++ky) {
    const int y = y0 + ky * kDilationY;
    if ((uint32)y >= (uint32)kHeight) continue;
    for (int kx = 0; kx < kKernelWidth; ++kx) {
      const int x = x0 + kx * kDilationX;
      if ((uint32)x >= (uint32)kWidth) continue;
      const Pack<T, kPack> seen = load_pack<T, kPack>(from + ((int64)y * kWidth + x) * pixel);
#if kGivesPlaces
      const float one = widened(seen.e[0]);
      const bool is_better = kept[0] == kept[0] && (one != one || one > kept[0]);
      if (count == 0 || is_better) best = kIsColumnMajor ? (int64)x * kHeight + y : (int64)y * kWidth + x;
#endif
#pragma unroll
      for (int e = 0; e < kPack; ++e) {
        const float element = widened(seen.e[e]);
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
