// Elements of all ranks' parts, reduced in the order of ranks, by kernels on cards of their own that wait for each other.
// Each thread sends its share of this card's part to the others, as packets, and waits for theirs.
#define kPackWords ((kTaken * (int)sizeof(T) + 3) / 4)
#define kPair (kPackWords > 1 ? 2 : 1)

// The first packets of a pack; the next pairs of them are at distances of all packs' pairs.
DEVICE uint64* packets_of(uint64* slot, int64 pack) { return slot + kHeaderWords + pack * kPair; }
DEVICE int64 distance(const Params& p) { return kCount / kTaken * kPair; }

// A thread moves some packs at once, all loads before the first store.
template <bool kIsEven>
DEVICE void send_part(const Params& p, int half, uint32 number) {
  constexpr int kDeep = kIsEven ? kAtOnce : 1;
  const int64 packs = kCount / kTaken, stride = (int64)kBlocks * kThreads;
  for (int64 first = (int64)block_x() * kThreads + thread_index(); first < packs; first += kDeep * stride) {
    uint32 words[kDeep][kPackWords] = {};
#pragma unroll
    for (int i = 0; i < kDeep; ++i) {
      const int64 pack = first + i * stride;
      if (pack >= packs) continue;
      const Raw<T, kTaken> raw = load_raw<T, kTaken>(kIn + pack * kTaken, kIsEven);
      memcpy(words[i], &raw, kTaken * sizeof(T));
    }
    for (int step = 1; step < kRanks; ++step) {
      uint64* const slot = slot_of(p, (kOwn + step) % kRanks, kOwn, half);
#pragma unroll
      for (int i = 0; i < kDeep; ++i) {
        const int64 pack = first + i * stride;
        if (pack >= packs) continue;
#pragma unroll
        for (int at = 0; at < kPackWords; at += kPair) {
          Pack<uint64, kPair> made;
#pragma unroll
          for (int n = 0; n < kPair; ++n) made.e[n] = packet(words[i][at + n], number);
          store_packets(packets_of(slot, pack) + at / kPair * distance(p), made);
        }
      }
    }
  }
}

WAITING_KERNEL(kThreads) {
  int* const state = own_state(p);
  const Pack<int, 2> last = *(const Pack<int, 2>*)state;
  if (last.e[1] != 0) return;
  const uint32 number = (uint32)last.e[0] + 1;
  const int half = number % 2, thread = (int)thread_index();
  const bool is_even_here = is_even<T, kTaken>(kIn);
  const bool tells = block_x() == 0 && thread < kRanks && thread != kOwn;
  if (tells) send_name(p, thread, half, number);
  is_even_here ? send_part<true>(p, half, number) : send_part<false>(p, half, number);
  const auto pack_of = [&](int rank, int64 pack, bool are_even) {
    if (rank == kOwn) return load_raw<T, kTaken>(kIn + pack * kTaken, are_even);
    uint32 words[kPackWords] = {};
    receive<kPackWords>(p, rank, packets_of(slot_of(p, kOwn, rank, half), pack), distance(p), number, words);
    Raw<T, kTaken> raw;
    memcpy(&raw, words, kTaken * sizeof(T));
    return raw;
  };
  is_even_here ? reduce_parts<true>(p, pack_of) : reduce_parts<false>(p, pack_of);
  meet();
  if (tells) is_same_collective(p, thread, half, number);
  if (thread == 0 && add_to(state + 2, 1) == kBlocks - 1) {
    state[2] = 0;
    state[0] = (int)number;
  }
}
