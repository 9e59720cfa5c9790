// Convolutions of channels apart, channels last: a thread makes kPack channels of a pixel, from as many of the picture. What
// it sees in kLines lines of the window is read at once, the filters of the first ones before the launch before has ended.
#define kLines (kKernelWidth >= 9 ? 1 : 9 / kKernelWidth < kKernelHeight ? 9 / kKernelWidth : kKernelHeight)
#define kTaps (kLines * kKernelWidth)
DEVICE Raw<T, kPack> filter_at(const Params& p, int y, int x, uint32 channel) {
  return load_raw<T, kPack>(kFilters + (y * kKernelWidth + x) * kChannels + channel, true);
}
// The thread's place.
struct Place {
  const T* from;
  int y, x;
};
DEVICE bool is_in_picture(const Params& p, const Place& place, int y, int x) {
  return y < kKernelHeight && (uint32)(place.y + y * kDilationY) < (uint32)kHeight &&
         (uint32)(place.x + x * kDilationX) < (uint32)kWidth;
}
// Adds what lines from `first` on give.
template <bool kIsEven>
DEVICE void add_lines(const Params& p, const Place& place, int first, const Raw<T, kPack>* filters, float* sums) {
  Raw<T, kPack> seen[kTaps];
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    const int y = first + tap / kKernelWidth, x = tap % kKernelWidth;
    const int64 pixel = (int64)(place.y + y * kDilationY) * kWidth + place.x + x * kDilationX;
    if (is_in_picture(p, place, y, x)) seen[tap] = load_raw<T, kPack>(place.from + pixel * kChannels, kIsEven);
  }
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    if (!is_in_picture(p, place, first + tap / kKernelWidth, tap % kKernelWidth)) continue;
    const Pack<T, kPack> a = unpacked(seen[tap]), b = unpacked(filters[tap]);
#pragma unroll
    for (int i = 0; i < kPack; ++i) sums[i] = fmaf(widened(a.e[i]), widened(b.e[i]), sums[i]);
  }
}
EARLY_KERNEL(kThreads) {
  const uint32 thread = block_x() * kThreads + thread_index();
  const uint32 piece = thread < (uint32)kPieces ? thread : 0;
  const uint32 pixel = quotient(piece, kByChannels);
  const uint32 channel = (piece - pixel * kByChannels.divisor) * kPack;
  Raw<T, kPack> filters[kTaps];
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) filters[tap] = filter_at(p, tap / kKernelWidth, tap % kKernelWidth, channel);
  const uint32 line = quotient(pixel, kByWidth);
  const uint32 image = quotient(line, kByHeight);
  const Place place = {kIn + (int64)image * kHeight * kWidth * kChannels + channel,
                       (int)(line - image * kByHeight.divisor) * kStrideY - kPadTop,
                       (int)(pixel - line * kByWidth.divisor) * kStrideX - kPadLeft};
  AFTER_THE_ONE_BEFORE();
  if (thread >= (uint32)kPieces) return;
  Operands operands[kPack / kTaken];
#pragma unroll
  for (int i = 0; i < kPack / kTaken; ++i) operands[i] = operands_of(p, pixel * (uint32)kChannels + channel + (uint32)(i * kTaken));
  float sums[kPack];
#pragma unroll
  for (int i = 0; i < kPack; ++i) sums[i] = 0;
#pragma unroll
  for (int first = 0; first < kKernelHeight; first += kLines) {
    if (first > 0) {
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const int y = first + tap / kKernelWidth;
        if (y < kKernelHeight) filters[tap] = filter_at(p, y, tap % kKernelWidth, channel);
      }
    }
    if (is_even<T, kPack>(place.from)) {
      add_lines<true>(p, place, first, filters, sums);
    } else {
      add_lines<false>(p, place, first, filters, sums);
    }
  }
#pragma unroll
  for (int i = 0; i < kPack; i += kTaken) {
    Pack<float, kTaken> given;
#pragma unroll
    for (int e = 0; e < kTaken; ++e) given.e[e] = sums[i + e];
    finish(p, given, operands[i / kTaken]);
  }
}
