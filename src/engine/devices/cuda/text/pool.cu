// Pools over pictures with channels last; a thread a result.
KERNEL(kThreads) {
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  const uint32 pixel = quotient(result, kByChannels);
  const uint32 channel = result - pixel * kByChannels.divisor;
  const uint32 line = quotient(pixel, kByWidth);
  const uint32 image = quotient(line, kByHeight);
  const int y0 = (int)(line - image * kByHeight.divisor) * kStrideY - kPadTop;
  const int x0 = (int)(pixel - line * kByWidth.divisor) * kStrideX - kPadLeft;
  const T* const from = kIn + (int64)image * kHeight * kWidth * kByChannels.divisor + channel;
  float sum = kIsMaximum ? -kInfinity : 0.0f;
  int count = 0;
  for (int ky = 0; ky < kKernelHeight; ++ky) {
    const int y = y0 + ky * kDilationY;
    if ((uint32)y >= (uint32)kHeight) continue;
    for (int kx = 0; kx < kKernelWidth; ++kx) {
      const int x = x0 + kx * kDilationX;
      if ((uint32)x >= (uint32)kWidth) continue;
      const float element = widened(from[((int64)y * kWidth + x) * kByChannels.divisor]);
      sum = kIsMaximum ? larger(sum, element) : sum + element;
      ++count;
    }
  }
  if (!kIsMaximum) sum /= (float)(kCountsPadding ? kKernelHeight * kKernelWidth : count);
  kOut[result] = Narrow<T>::of(sum);
}
