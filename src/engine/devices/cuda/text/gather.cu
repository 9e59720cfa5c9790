// Rows of a table by indices: [outer, indices, kRow] of [outer, kRows, kRow]; a thread an element.
KERNEL(kThreads) {
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  const uint32 place = quotient(result, kRow);
  const uint32 element = result - place * kRow.divisor;
  const uint32 outer = quotient(place, kIndices);
  int64 index = kIndex[place - outer * kIndices.divisor];
  if (index < 0) index += kRows;
  if ((uint64)index >= (uint64)kRows) {
    *kFault = 1;
    return;
  }
  kOut[result] = kIn[((int64)outer * kRows + index) * kRow.divisor + element];
}
