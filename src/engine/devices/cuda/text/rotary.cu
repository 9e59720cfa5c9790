// Rotary positions: rows of kWidth elements, of which `turn` makes one.
EARLY_KERNEL(kThreads) {
  LET_THE_NEXT_BEGIN();
  AFTER_THE_ONE_BEFORE();
  const uint32 element = block_x() * kThreads + thread_index();
  if (element >= (uint32)kElements) return;
  const uint32 row = quotient(element, kWidth);
  turn(p, row, (int)(element - row * kWidth.divisor));
}
