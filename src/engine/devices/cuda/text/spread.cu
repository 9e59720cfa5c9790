// Pixels of kChannels elements, one behind the other, with zeros behind each up to kSpread. A thread a pack of a pixel.
KERNEL(kThreads) {
  constexpr int kPack = 16 / (int)sizeof(T), kPacks = kSpread / kPack;
  const uint32 piece = block_x() * kThreads + thread_index();
  if (piece >= (uint32)kPixels * kPacks) return;
  const int first = (int)(piece % kPacks) * kPack;
  const T* const from = kIn + (int64)(piece / kPacks) * kChannels;
  Pack<T, kPack> made;
  for (int e = 0; e < kPack; ++e) made.e[e] = first + e < kChannels ? from[first + e] : T();
  *(Pack<T, kPack>*)(kOut + (int64)piece * kPack) = made;
}
