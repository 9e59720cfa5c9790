// An element for each index along an axis; a thread a result.
KERNEL(kThreads) {
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  int64 index = kIndex[result];
  if (index < 0) index += kLength;
  if ((uint64)index >= (uint64)kLength) {
    *kFault = 1;
    return;
  }
  kOut[result] = kIn[place_of(p, result) + index * kStep];
}
