// Elements of all ranks' parts, reduced in the order of ranks, so that each rank has the same bits. Parts lie on cards
// that this one reaches.
KERNEL(kThreads) {
  constexpr int kEach = 16 / sizeof(T);
  const int64 stride = (int64)kBlocks * kThreads * kEach;
  for (int64 i = ((int64)block_x() * kThreads + thread_index()) * kEach; i < kCount; i += stride) {
    const bool is_whole = i + kEach <= kCount;
    const int left = is_whole ? kEach : (int)(kCount - i);
    float sums[kEach];
    for (int rank = 0; rank < kRanks; ++rank) {
      const T* const part = (const T*)p.at[1 + rank] + i;
      Pack<T, kEach> pack;
      if (is_whole) {
        pack = load_pack<T, kEach>(part);
      } else {
        for (int e = 0; e < left; ++e) pack.e[e] = part[e];
      }
      for (int e = 0; e < left; ++e) sums[e] = rank == 0 ? widened(pack.e[e]) : reduced(sums[e], widened(pack.e[e]));
    }
    Pack<T, kEach> made;
    for (int e = 0; e < left; ++e) made.e[e] = Narrow<T>::of(finished(sums[e]));
    if (is_whole) {
      store_pack<T, kEach>(kOut + i, made);
    } else {
      for (int e = 0; e < left; ++e) kOut[i + e] = made.e[e];
    }
  }
}
