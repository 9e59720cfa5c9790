// What a thread sees of a picture, channels last, for convolutions of channels apart: kPack channels of the pixels under a
// window, of which those in kLines lines are read at once. Given by the writer: T, kIn, kFilters, kernel, strides and pads.
#define kLines (kKernelWidth >= 9 ? 1 : 9 / kKernelWidth < kKernelHeight ? 9 / kKernelWidth : kKernelHeight)
#define kTaps (kLines * kKernelWidth)
DEVICE Raw<T, kPack> filter_at(const Params& p, int y, int x, uint32 channel) {
  return load_raw<T, kPack>(kFilters + (y * kKernelWidth + x) * kChannels + channel, true);
}
// Reads the filters of the lines from `first` on.
DEVICE void load_filters(const Params& p, int first, uint32 channel, Raw<T, kPack>* filters) {
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    const int y = first + tap / kKernelWidth;
    if (y < kKernelHeight) filters[tap] = filter_at(p, y, tap % kKernelWidth, channel);
  }
}
// Where a window begins, perhaps beside the picture.
struct Place {
  const T* from;
  int y, x;
};
DEVICE bool is_in_picture(const Params& p, const Place& place, int y, int x) {
  return y < kKernelHeight && (uint32)(place.y + y * kDilationY) < (uint32)kHeight &&
         (uint32)(place.x + x * kDilationX) < (uint32)kWidth;
}
// The place of the window of a pixel of the result.
DEVICE Place place_of(const Params& p, uint32 pixel, uint32 channel) {
  const uint32 line = quotient(pixel, kByWidth);
  const uint32 image = quotient(line, kByHeight);
  const int y = (int)(line - image * kByHeight.divisor) * kStrideY - kPadTop;
  const int x = (int)(pixel - line * kByWidth.divisor) * kStrideX - kPadLeft;
  return {kIn + (((int64)image * kHeight + y) * kWidth + x) * kChannels + channel, y, x};
}
// Elements from where a window begins to one of its places.
DEVICE int offset_of(const Params& p, int y, int x) { return (y * kDilationY * kWidth + x * kDilationX) * kChannels; }
// Adds what lines from `first` on give. Beside the picture are zeros, so that no tap waits for another.
DEVICE void add_lines(const Params& p, const Place& place, int first, const Raw<T, kPack>* filters, float* sums) {
  Raw<T, kPack> seen[kTaps];
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    const int y = first + tap / kKernelWidth, x = tap % kKernelWidth;
    seen[tap] = Raw<T, kPack>();
    if (is_in_picture(p, place, y, x)) seen[tap] = load_raw<T, kPack>(place.from + offset_of(p, y, x), true);
  }
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    if (first + tap / kKernelWidth >= kKernelHeight) continue;
    const Pack<T, kPack> a = unpacked(seen[tap]), b = unpacked(filters[tap]);
#pragma unroll
    for (int i = 0; i < kPack; ++i) sums[i] = fmaf(widened(a.e[i]), widened(b.e[i]), sums[i]);
  }
}
// Adds what the whole window gives, of a picture whose packs begin anywhere.
DEVICE void add_uneven(const Params& p, const Place& place, uint32 channel, float* sums) {
#pragma unroll 1
  for (int y = 0; y < kKernelHeight; ++y) {
#pragma unroll 1
    for (int x = 0; x < kKernelWidth; ++x) {
      if (!is_in_picture(p, place, y, x)) continue;
      const T* const from = place.from + offset_of(p, y, x);
      const Pack<T, kPack> b = unpacked(filter_at(p, y, x, channel));
#pragma unroll
      for (int i = 0; i < kPack; ++i) sums[i] = fmaf(widened(from[i]), widened(b.e[i]), sums[i]);
    }
  }
}
// What the window at a place gives for the thread's channels, from `channel` on; `filters`: those of its first lines.
DEVICE void sum_window(const Params& p, const Place& place, uint32 channel, const Raw<T, kPack>* filters, float* sums) {
#pragma unroll
  for (int i = 0; i < kPack; ++i) sums[i] = 0;
  if (!is_even<T, kPack>(place.from)) return add_uneven(p, place, channel, sums);
#pragma unroll
  for (int first = 0; first < kKernelHeight; first += kLines) {
    Raw<T, kPack> further[kTaps];
    if (first > 0) load_filters(p, first, channel, further);
    add_lines(p, place, first, first > 0 ? further : filters, sums);
  }
}
