// Elements of all ranks' parts, reduced in the order of ranks, between two meetings of the ranks' kernels.
KERNEL(kThreads) {
  if (own_state(p)[1] != 0) return;
  const T* parts[kRanks];
  bool is_even_here = true;
#pragma unroll
  for (int rank = 0; rank < kRanks; ++rank) {
    parts[rank] = rank == kOwn ? kIn : (const T*)parts_told(p)[rank];
    is_even_here = is_even_here && is_even<T, kTaken>(parts[rank]);
  }
  const auto part_of = [&](int rank) { return parts[rank]; };
  is_even_here ? reduce_parts<true>(p, part_of) : reduce_parts<false>(p, part_of);
}
