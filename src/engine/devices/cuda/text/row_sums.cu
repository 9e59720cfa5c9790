// Sums of rows of codes, each less the zero point; a warp a row.
KERNEL(kThreads) {
  const int lane = (int)thread_index() % 32;
  const uint32 row = block_x() * (kThreads / 32) + thread_index() / 32;
  if (row >= (uint32)kRows) return;
  const T* const from = kLeft + (int64)row * kRow;
  const int zero = kZeroCode;
  int sum = 0;
  for (int k = lane; k < kDepth; k += 32) sum += (int)from[(int64)k * kColumn] - zero;
  for (int distance = 16; distance > 0; distance /= 2) sum += from_lane(sum, distance);
  if (lane == 0) kSums[row] = sum;
}
