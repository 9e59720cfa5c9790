// Elements of all ranks' parts, reduced in the order of ranks, by kernels on cards of their own that wait for each other.
// Each thread sends its share of this card's part to the others, kPackWords packets for a pack, and waits for theirs.
#define kPair (kPackWords > 1 ? 2 : 1)

// The first packets of a pack; the next pairs of them are at distances of all packs' pairs.
DEVICE uint64* packets_of(uint64* slot, int64 pack) { return slot + kHeaderWords + pack * kPair; }
DEVICE int64 distance(const Params& p) { return kCount / kTaken * kPair; }

DEVICE void send(const Params& p, int64 pack, const Raw<T, kTaken>& raw, int half, uint32 number) {
  uint32 words[kPackWords] = {};
  memcpy(words, &raw, kTaken * sizeof(T));
  for (int step = 1; step < kRanks; ++step) {
    uint64* const to = packets_of(slot_of(p, (kOwn + step) % kRanks, kOwn, half), pack);
#pragma unroll
    for (int at = 0; at < kPackWords; at += kPair) {
      Pack<uint64, kPair> made;
#pragma unroll
      for (int n = 0; n < kPair; ++n) made.e[n] = packet(words[at + n], number);
      store_packets(to + at / kPair * distance(p), made);
    }
  }
}
DEVICE Raw<T, kTaken> received(const Params& p, int rank, int64 pack, int half, uint32 number) {
  uint32 words[kPackWords] = {};
  receive<kPackWords>(p, rank, packets_of(slot_of(p, kOwn, rank, half), pack), distance(p), number, words);
  Raw<T, kTaken> raw;
  memcpy(&raw, words, kTaken * sizeof(T));
  return raw;
}

// Blocks count themselves as soon as they know the number, which the last of them moves on when it is done.
template <bool kIsEven>
DEVICE void exchange(const Params& p) {
  constexpr int kDeep = kDeepOf(kIsEven);
  const int64 packs = kCount / kTaken, stride = (int64)kBlocks * kThreads;
  const int thread = (int)thread_index();
  int64 first = (int64)block_x() * kThreads + thread;
  int* const state = own_state(p);
  const Pack<int, 2> last = *(const Pack<int, 2>*)state;
  Raw<T, kTaken> own[kDeep];
  const auto load_own = [&] {
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const int64 pack = first + i * stride;
      if (pack < packs) own[i] = load_raw<T, kTaken>(kIn + pack * kTaken, kIsEven);
    }
  };
  load_own();
  if (last.e[1] != 0) return;
  const uint32 number = (uint32)last.e[0] + 1;
  const int half = number % 2;
  const bool tells = block_x() == 0 && thread < kRanks && thread != kOwn;
  if (tells) send_name(p, thread, half, number);
  meet();
  const int before = thread == 0 ? add_to(state + 2, 1) : 0;
  while (first < packs) {
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      if (first + i * stride < packs) send(p, first + i * stride, own[i], half, number);
    }
    reduce_packs<kDeep>(p, first, [&](int rank, int i, int64 pack) {
      return rank == kOwn ? own[i] : received(p, rank, pack, half, number);
    });
    first += kDeep * stride;
    load_own();
  }
  if (tells) is_same_collective(p, thread, half, number);
  if (thread == 0 && before == kBlocks - 1) {
    state[2] = 0;
    state[0] = (int)number;
  }
}

WAITING_KERNEL(kThreads) { is_even<T, kTaken>(kIn) ? exchange<true>(p) : exchange<false>(p); }
