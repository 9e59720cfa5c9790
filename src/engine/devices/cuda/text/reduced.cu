// Elements of the parts of ranks, taken together.
DEVICE float reduced(float a, float b) {
#if kReduction == 1
  return a * b;
#elif kReduction == 2
  return b < a ? b : a;
#elif kReduction == 3
  return a < b ? b : a;
#else
  return a + b;
#endif
}

DEVICE float finished(float x) {
#if kReduction == 4
  return x / (float)kRanks;
#else
  return x;
#endif
}

// Reduces packs of parts, which `pack_of(rank, i, pack)` finds, in the order of ranks, so that each rank has the same bits,
// and does what follows. A thread moves kDeep packs at once, from the `first` on, all loads of a part before the first of
// them is looked at. The first result is number kFirst of all.
template <int kDeep, typename PackOf>
DEVICE void reduce_packs(const Params& p, int64 first, PackOf pack_of) {
  const int64 packs = kCount / kTaken, stride = (int64)kBlocks * kThreads;
  Pack<float, kTaken> sums[kDeep];
  Operands operands[kDeep];
#pragma unroll
  for (int i = 0; i < kDeep; ++i) {
    const int64 pack = first + i * stride;
    if (pack < packs) operands[i] = operands_of(p, (uint32)(kFirst + pack * kTaken));
  }
#pragma unroll
  for (int rank = 0; rank < kRanks; ++rank) {
    Raw<T, kTaken> held[kDeep];
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const int64 pack = first + i * stride;
      if (pack < packs) held[i] = pack_of(rank, i, pack);
    }
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const Pack<T, kTaken> elements = unpacked<T, kTaken>(held[i]);
#pragma unroll
      for (int e = 0; e < kTaken; ++e) {
        const float x = widened(elements.e[e]);
        sums[i].e[e] = rank == 0 ? x : reduced(sums[i].e[e], x);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kDeep; ++i) {
#pragma unroll
    for (int e = 0; e < kTaken; ++e) sums[i].e[e] = finished(sums[i].e[e]);
    if (first + i * stride < packs) finish(p, sums[i], operands[i]);
  }
}
// Packs that the thread moves at once.
#define kDeepOf(is_even) ((is_even) ? kAtOnce : 1)
// The same for all packs of parts, each of which lies at `part_of(rank)`.
template <bool kIsEven, typename PartOf>
DEVICE void reduce_parts(const Params& p, PartOf part_of) {
  constexpr int kDeep = kDeepOf(kIsEven);
  const int64 packs = kCount / kTaken, stride = (int64)kBlocks * kThreads;
  for (int64 first = (int64)block_x() * kThreads + thread_index(); first < packs; first += kDeep * stride) {
    reduce_packs<kDeep>(p, first, [&](int rank, int, int64 pack) {
      return load_raw<T, kTaken>(part_of(rank) + pack * kTaken, kIsEven);
    });
  }
}
