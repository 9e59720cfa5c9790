// Pixels of kChannels elements, one behind the other, with zeros behind each up to kSpread; lines of kWidth such pixels in
// others, kBefore pixels from their begin on. A thread a pack of a pixel.
KERNEL(kThreads) {
  constexpr int kPack = 16 / (int)sizeof(T), kPacks = kSpread / kPack;
  const uint32 piece = block_x() * kThreads + thread_index();
  if (piece >= (uint32)kCount) return;
  const uint32 pixel = piece / kPacks, line = quotient(pixel, kLine);
  const int x = (int)(pixel - line * kLine.divisor) - kBefore, first = (int)(piece % kPacks) * kPack;
  const bool is_there = (uint32)x < (uint32)kWidth;
  const T* const from = kIn + ((int64)line * kWidth + x) * kChannels;
  Pack<T, kPack> made;
  for (int e = 0; e < kPack; ++e) made.e[e] = is_there && first + e < kChannels ? from[first + e] : T();
  *(Pack<T, kPack>*)(kOut + (int64)piece * kPack) = made;
}
