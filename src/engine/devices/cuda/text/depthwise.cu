// Convolutions of channels apart, channels last: a thread makes kPack channels of a pixel, from as many of the picture.
KERNEL(kThreads) {
  const uint32 piece = block_x() * kThreads + thread_index();
  if (piece >= (uint32)kPieces) return;
  const uint32 pixel = quotient(piece, kByChannels);
  const uint32 channel = (piece - pixel * kByChannels.divisor) * kPack;
  const uint32 line = quotient(pixel, kByWidth);
  const uint32 image = quotient(line, kByHeight);
  const int y0 = (int)(line - image * kByHeight.divisor) * kStrideY - kPadTop;
  const int x0 = (int)(pixel - line * kByWidth.divisor) * kStrideX - kPadLeft;
  const T* const from = kIn + (int64)image * kHeight * kWidth * kChannels + channel;
  float sums[kPack];
#pragma unroll
  for (int i = 0; i < kPack; ++i) sums[i] = 0;
#pragma unroll
  for (int ky = 0; ky < kKernelHeight; ++ky) {
    const int y = y0 + ky * kDilationY;
    if ((uint32)y >= (uint32)kHeight) continue;
#pragma unroll
    for (int kx = 0; kx < kKernelWidth; ++kx) {
      const int x = x0 + kx * kDilationX;
      if ((uint32)x >= (uint32)kWidth) continue;
      const Pack<T, kPack> a = load_pack<T, kPack>(from + ((int64)y * kWidth + x) * kChannels);
      const Pack<T, kPack> b = *(const Pack<T, kPack>*)(kFilters + (ky * kKernelWidth + kx) * kChannels + channel);
#pragma unroll
      for (int i = 0; i < kPack; ++i) sums[i] = fmaf(widened(a.e[i]), widened(b.e[i]), sums[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kPack; i += kTaken) {
    Pack<float, kTaken> given;
#pragma unroll
    for (int e = 0; e < kTaken; ++e) given.e[e] = sums[i + e];
    finish(p, pixel * (uint32)kChannels + channel + (uint32)i, given);
  }
}
