// Elements of all ranks' parts, reduced in the order of ranks, by kernels on cards of their own that wait for each other.
// Each block writes its share of this card's part into the inboxes of the others, tells them by a sign, and waits for
// theirs.

// Each thread moves some packs at once, all loads before the first store.
template <bool kIsEven>
DEVICE void push_part(const Params& p, int half) {
  constexpr int kDeep = kIsEven ? kAtOnce : 1;
  const int64 packs = kCount / kTaken, stride = (int64)kBlocks * kThreads;
  for (int64 first = (int64)block_x() * kThreads + thread_index(); first < packs; first += kDeep * stride) {
    Raw<T, kTaken> held[kDeep];
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const int64 pack = first + i * stride;
      if (pack < packs) held[i] = load_raw<T, kTaken>(kIn + pack * kTaken, kIsEven);
    }
    for (int step = 1; step < kRanks; ++step) {
      Raw<T, kTaken>* const to = (Raw<T, kTaken>*)inbox(p, (kOwn + step) % kRanks, kOwn, half);
#pragma unroll
      for (int i = 0; i < kDeep; ++i) {
        if (first + i * stride < packs) to[first + i * stride] = held[i];
      }
    }
  }
}

WAITING_KERNEL(kThreads) {
  int* const state = own_state(p);
  const Pack<int, 2> last = *(const Pack<int, 2>*)state;
  if (last.e[1] != 0) return;
  const uint32 number = (uint32)last.e[0] + 1;
  const int half = number % 2;
  const bool is_even_here = is_even<T, kTaken>(kIn);
  is_even_here ? push_part<true>(p, half) : push_part<false>(p, half);
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
  if (thread_index() == 0 && add_to(state + 2, 1) == kBlocks - 1) {
    state[2] = 0;
    state[0] = (int)number;
  }
}
