// Pixels of kChannels elements, kPixel and kChannel apart, with zeros behind each, or behind each of a square of kFold by
// kFold, up to kSpread in all; lines of kWidth such pixels in others, kBefore pixels or squares from their begin on. A thread
// a pack.
KERNEL(kThreads) {
  constexpr int kPack = 16 / (int)sizeof(T), kPacks = kSpread / kPack, kEach = kSpread / (kFold * kFold);
  const uint32 piece = block_x() * kThreads + thread_index();
  if (piece >= (uint32)kCount) return;
  const uint32 square = piece / kPacks, line = quotient(square, kLine), image = quotient(line, kLines);
  const int x = ((int)(square - line * kLine.divisor) - kBefore) * kFold, y = (int)(line - image * kLines.divisor) * kFold;
  const int first = (int)(piece % kPacks) * kPack;
  const T* const of_image = kIn + (int64)image * kHeight * kWidth * kChannels;
  Pack<T, kPack> made;
#pragma unroll
  for (int e = 0; e < kPack; ++e) {
    const int pixel = (first + e) / kEach, channel = (first + e) % kEach;
    const int px = x + pixel % kFold, py = y + pixel / kFold;
    const bool is_there = channel < kChannels && (uint32)px < (uint32)kWidth && py < kHeight;
    made.e[e] = is_there ? of_image[(int64)(py * kWidth + px) * kPixel + (int64)channel * kChannel] : T();
  }
  *(Pack<T, kPack>*)(kOut + (int64)piece * kPack) = made;
}
