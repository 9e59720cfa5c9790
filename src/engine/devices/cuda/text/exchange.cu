// Elements of all ranks' parts, reduced in the order of ranks, by kernels on cards of their own that wait for each other.
// Each block writes its share of this card's part into the inboxes of the others, tells them by a sign, and waits for
// theirs. Inboxes have two halves, used in turns: who has seen the signs of a kernel knows that all have read what came for
// the one before it.
DEVICE T* inbox(const Params& p, int of, int from, int half) {
  const int slot = half * (kRanks - 1) + (from < of ? from : from - 1);
  return (T*)((uint8*)p.at[kFirstInbox + of] + (int64)slot * kPartBytes);
}
DEVICE uint64* sign(const Params& p, int of, int from, int half) {
  return (uint64*)p.at[kFirstInbox + kRanks + of] + kSignsBegin + (half * kRanks + from) * kMostBlocks + block_x();
}

// Returns when a rank's sign is there, or tells the host why it will not be. kWords: that the run has failed, then that
// ranks have left, then the faults that they saw.
DEVICE void wait_for(const Params& p, int rank, int half, uint64 wanted) {
  constexpr int kTurns = 64;  // between looks at memory of the host
  const uint64* const at = sign(p, kOwn, rank, half);
  const uint64 begin = nanoseconds();
  for (int turn = 1;; ++turn) {
    const uint64 seen = load_of_all(at);
    if (seen == wanted) return;
    const bool is_there = seen >> 32 == wanted >> 32;
    uint64 fault = is_there ? kIsAnother : 0;
    if (!is_there && turn % kTurns == 0) {
      if (load_of_all(kWords) != 0) {
        fault = kHasFailed;
      } else if (load_of_all(kWords + 1 + rank) != 0) {
        if (load_of_all(at) >> 32 != wanted >> 32) fault = kHasLeft;  // its last signs came before
      } else if (nanoseconds() - begin > (uint64)(uint32)kMilliseconds * 1000000) {
        fault = kIsLate;
      }
    }
    if (fault != 0) {
      ((int*)p.at[kFirstInbox + kRanks + kOwn])[1] = 1;
      store_for_all(kWords + 1 + kRanks + kOwn,
                    fault | (uint64)rank << 8 | (wanted & 0xffff) << 16 | (seen & 0xffff) << 32);
      return;
    }
    rest();
  }
}

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
    for (int step = 1; step < kRanks; ++step) inbox(p, (kOwn + step) % kRanks, kOwn, half)[i] = kIn[i];
  }
}

// The state of a rank: the number of its last kernel, that one has failed, and blocks of this one that are done.
WAITING_KERNEL(kThreads) {
  int* const state = (int*)p.at[kFirstInbox + kRanks + kOwn];
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
  const auto part_of = [&](int of) { return of == kOwn ? kIn : inbox(p, kOwn, of, half); };
  is_even_here ? reduce_parts<true>(p, part_of) : reduce_parts<false>(p, part_of);
  if (has_rest) reduce_rest(p, part_of);
  if (thread_index() == 0 && add_to(state + 2, 1) == kBlocks - 1) {
    state[2] = 0;
    state[0] = (int)number;
  }
}
