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

// Reduces the parts that `part_of(rank)` finds, in the order of ranks, so that each rank has the same bits. A thread moves
// some packs at once, all loads of a part before the first of them is looked at.
template <bool kIsEven, typename PartOf>
DEVICE void reduce_parts(const Params& p, PartOf part_of) {
  constexpr int kDeep = kIsEven ? kAtOnce : 1;
  const int64 packs = kCount / kEach, stride = (int64)kBlocks * kThreads;
  for (int64 first = (int64)block_x() * kThreads + thread_index(); first < packs; first += kDeep * stride) {
    float sums[kDeep][kEach];
#pragma unroll
    for (int rank = 0; rank < kRanks; ++rank) {
      const T* const part = part_of(rank);
      Raw<T, kEach> held[kDeep];
#pragma unroll
      for (int i = 0; i < kDeep; ++i) {
        const int64 pack = first + i * stride;
        if (pack < packs) held[i] = load_raw<T, kEach>(part + pack * kEach, kIsEven);
      }
#pragma unroll
      for (int i = 0; i < kDeep; ++i) {
        const Pack<T, kEach> elements = unpacked<T, kEach>(held[i]);
#pragma unroll
        for (int e = 0; e < kEach; ++e) {
          const float x = widened(elements.e[e]);
          sums[i][e] = rank == 0 ? x : reduced(sums[i][e], x);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      Pack<T, kEach> made;
#pragma unroll
      for (int e = 0; e < kEach; ++e) made.e[e] = Narrow<T>::of(finished(sums[i][e]));
      const int64 pack = first + i * stride;
      if (pack >= packs) continue;
      if (kIsEven) {
        *(Pack<T, kEach>*)(kOut + pack * kEach) = made;
      } else {
        store_pack<T, kEach>(kOut + pack * kEach, made);
      }
    }
  }
}
// The same of elements behind the last pack.
template <typename PartOf>
DEVICE void reduce_rest(const Params& p, PartOf part_of) {
  for (int64 i = kCount / kEach * kEach; i < kCount; ++i) {
    float sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const float x = widened(part_of(rank)[i]);
      sum = rank == 0 ? x : reduced(sum, x);
    }
    kOut[i] = Narrow<T>::of(finished(sum));
  }
}
