// Elements of all ranks' parts, reduced in the order of ranks, by kernels on cards of their own that wait for each other.
// Each block writes its share of this card's part into the inboxes of the others, tells them by a sign, and waits for
// theirs.

// Each thread moves some packs at once, all loads before the first store.
template <bool kIsEven>
DEVICE void push_part(const Params& p, int half) {
  constexpr int kDeep = kIsEven ? kAtOnce : 1;
  const int64 packs = kCount / kEach, stride = (int64)kBlocks * kThreads;
  for (int64 first = (int64)block_x() * kThreads + thread_index(); first < packs; first += kDeep * stride) {
    Raw<T, kEach> held[kDeep];
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const int64 pack = first + i * stride;
      if (pack < packs) held[i] = load_raw<T, kEach>(kIn + pack * kEach, kIsEven);
    }
    for (int step = 1; step < kRanks; ++step) {
      Raw<T, kEach>* const to = (Raw<T, kEach>*)inbox(p, (kOwn + step) % kRanks, kOwn, half);
#pragma unroll
      for (int i = 0; i < kDeep; ++i) {
        if (first + i * stride < packs) to[first + i * stride] = held[i];
      }
    }
  }
}

// Elements behind the last pack.
DEVICE void push_rest(const Params& p, int half) {
  for (int64 i = kCount / kEach * kEach; i < kCount; ++i) {
    for (int step = 1; step < kRanks; ++step) ((T*)inbox(p, (kOwn + step) % kRanks, kOwn, half))[i] = kIn[i];
  }
}

WAITING_KERNEL(kThreads) {
  int* const state = own_state(p);
  const Pack<int, 2> last = *(const Pack<int, 2>*)state;
  if (last.e[1] != 0) return;
  const uint32 number = (uint32)last.e[0] + 1;
  const int half = number % 2;
  const bool is_even_here = is_even<T, kEach>(kIn) && is_even<T, kEach>(kOut);
  const bool has_rest = block_x() == 0 && thread_index() == 0;
  is_even_here ? push_part<true>(p, half) : push_part<false>(p, half);
  if (has_rest) push_rest(p, half);
  meet();
  const int rank = thread_index();
  if (rank < kRanks && rank != kOwn) {
    const uint64 wanted = (uint64)number << 32 | (uint32)kIdentity;
    store_for_all(sign(p, rank, kOwn, half), wanted);
    wait_for(p, rank, half, wanted);
  }
  meet();
  const auto part_of = [&](int of) { return of == kOwn ? kIn : (const T*)inbox(p, kOwn, of, half); };
  is_even_here ? reduce_parts<true>(p, part_of) : reduce_parts<false>(p, part_of);
  if (has_rest) reduce_rest(p, part_of);
  if (thread_index() == 0 && add_to(state + 2, 1) == kBlocks - 1) {
    state[2] = 0;
    state[0] = (int)number;
  }
}
