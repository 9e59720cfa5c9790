// Elements of all ranks' parts, reduced in the order of ranks. Parts lie on cards that this one reaches.
KERNEL(kThreads) {
  const auto part_of = [&](int rank) { return (const T*)p.at[rank]; };
  bool is_even_here = true;
  for (int rank = 0; rank < kRanks; ++rank) is_even_here = is_even_here && is_even<T, kTaken>(part_of(rank));
  is_even_here ? reduce_parts<true>(p, part_of) : reduce_parts<false>(p, part_of);
}
