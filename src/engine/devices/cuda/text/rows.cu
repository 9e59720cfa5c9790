// What a block makes of one row: its threads take elements in turn and meet for sums and greatest numbers.
DEVICE float block_sum(float x) {
  x = warp_sum(x);
  if (kThreads == 32) return x;
  SHARED float parts[32];
  meet();
  if (thread_index() % 32 == 0) parts[thread_index() / 32] = x;
  meet();
  float sum = 0;
  for (int i = 0; i < kThreads / 32; ++i) sum += parts[i];
  return sum;
}
DEVICE float block_largest(float x) {
  x = warp_largest(x);
  if (kThreads == 32) return x;
  SHARED float parts[32];
  meet();
  if (thread_index() % 32 == 0) parts[thread_index() / 32] = x;
  meet();
  float largest = parts[0];
  for (int i = 1; i < kThreads / 32; ++i) largest = larger(largest, parts[i]);
  return largest;
}
