// Elements of all ranks' parts, reduced in the order of ranks. Parts lie on cards that this one reaches.
KERNEL(kThreads) {
  bool is_even_here = true;
  for (int rank = 0; rank < kRanks; ++rank) is_even_here = is_even_here && is_even<T, kTaken>((const T*)p.at[rank]);
  const auto pack_of = [&](int rank, int64 pack, bool are_even) {
    return load_raw<T, kTaken>((const T*)p.at[rank] + pack * kTaken, are_even);
  };
  is_even_here ? reduce_parts<true>(p, pack_of) : reduce_parts<false>(p, pack_of);
}
