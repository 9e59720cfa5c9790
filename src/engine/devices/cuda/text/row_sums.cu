// Sums of rows of codes, each less the zero point, by item; a warp a row. Rows are windows where kIsWindow: beyond the
// picture they have zero points.
DEVICE int sum_of(const T* from, int64 step, int count, int zero) {
  int sum = 0;
  for (int k = (int)thread_index() % 32; k < count; k += 32) sum += (int)from[k * step] - zero;
  return sum;
}

#if kIsWindow
DEVICE int sum_of_row(const Params& p, const T* item, uint32 row, int zero) {
  const Divisor pixels = kPixels, width = kOutWidth;
  const uint32 image = quotient(row, pixels), pixel = row - image * pixels.divisor;
  const uint32 out_y = quotient(pixel, width), out_x = pixel - out_y * width.divisor;
  const T* const picture = item + (int64)image * kHeight * kWidth * kPixel;
  int sum = 0;
  for (int tap_y = 0; tap_y < kTapsY; ++tap_y) {
    const int y = (int)out_y * kStrideY - kPadTop + tap_y * kDilationY;
    if ((uint32)y >= (uint32)kHeight) continue;
    for (int tap_x = 0; tap_x < kTapsX; ++tap_x) {
      const int x = (int)out_x * kStrideX - kPadLeft + tap_x * kDilationX;
      if ((uint32)x < (uint32)kWidth) sum += sum_of(picture + ((int64)y * kWidth + x) * kPixel, 1, kChannels, zero);
    }
  }
  return sum;
}
#else
DEVICE int sum_of_row(const Params& p, const T* item, uint32 row, int zero) {
  return sum_of(item + (int64)row * kRow, kColumn, kDepth, zero);
}
#endif

KERNEL(kThreads) {
  const uint32 row = block_x() * (kThreads / 32) + thread_index() / 32;
  if (row >= (uint32)kRows) return;
  int sum = sum_of_row(p, kLeft + (int64)block_y() * kItem, row, kZeroCode);
  for (int distance = 16; distance > 0; distance /= 2) sum += from_lane(sum, distance);
  if (thread_index() % 32 == 0) kSums[(int64)block_y() * kRows + row] = sum;
}
