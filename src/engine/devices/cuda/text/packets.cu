// Memory of ranks on cards of their own (exchange.h): each card has an inbox with a slot for each other rank. Slots hold
// packets: four bytes of content, and behind them the number of the kernel that sent them, so that a packet says by itself
// that it has come. The first packet names the collective. Slots have two halves, used in turns: who has seen packets of a
// kernel knows that all have read what came for the one before it. The state of a rank: the number of its last kernel, that
// one has failed, and blocks of this one that are done; behind it are the addresses of parts.
DEVICE int* own_state(const Params& p) { return (int*)p.at[kFirstInbox + kRanks + kOwn]; }
DEVICE uint64* parts_told(const Params& p) { return (uint64*)own_state(p) + kPartsBegin; }
DEVICE uint64* slot_of(const Params& p, int of, int from, int half) {
  const int slot = half * (kRanks - 1) + (from < of ? from : from - 1);
  return (uint64*)((uint8*)p.at[kFirstInbox + of] + (int64)slot * kSlotBytes);
}
DEVICE uint64 packet(uint32 content, uint32 number) { return (uint64)number << 32 | content; }
DEVICE bool is_of(uint64 packet, uint32 number) { return (uint32)(packet >> 32) == number; }

// Ends the waiting for a rank, in whose place `seen` has come; the host is told why.
DEVICE void give_up(const Params& p, int rank, int fault, uint32 seen) {
  own_state(p)[1] = 1;
  store_for_all(kWords + 1 + kRanks + kOwn, fault | (uint64)rank << 8 | (uint64)kIdentity << 16 | (uint64)seen << 32);
}
// True if a rank's packets will not come, which `are_there` says once more. kWords: that the run has failed, then that ranks
// have left, then the faults that they saw.
template <typename AreThere>
DEVICE bool are_lost(const Params& p, int rank, uint64 begin, AreThere are_there) {
  if (load_of_all((const uint64*)own_state(p)) >> 32 != 0) return true;
  int fault = 0;
  if (load_of_all(kWords) != 0) {
    fault = kHasFailed;
  } else if (load_of_all(kWords + 1 + rank) != 0) {
    if (!are_there()) fault = kHasLeft;  // its last packets came before
  } else if (nanoseconds() - begin > (uint64)(uint32)kMilliseconds * 1000000) {
    fault = kIsLate;
  }
  if (fault != 0) give_up(p, rank, fault, 0);
  return fault != 0;
}
// Contents of N packets, each at a `distance` from the pair before it, once they are there; false: they will not come.
template <int N>
DEVICE bool receive(const Params& p, int rank, const uint64* from, int64 distance, uint32 number, uint32* contents) {
  constexpr int kTurns = 64;  // between looks at memory of the host
  constexpr int kPair = N > 1 ? 2 : 1;
  Pack<uint64, kPair> held[N / kPair];
  const auto are_there = [&] {
#pragma unroll
    for (int i = 0; i < N / kPair; ++i) load_packets(from + i * distance, held[i]);
    bool is_there = true;
#pragma unroll
    for (int i = 0; i < N; ++i) is_there = is_there && is_of(held[i / kPair].e[i % kPair], number);
    return is_there;
  };
  const uint64 begin = nanoseconds();
  for (int turn = 1; !are_there(); ++turn) {
    if (turn % kTurns == 0 && are_lost(p, rank, begin, are_there)) return false;
    rest();
  }
#pragma unroll
  for (int i = 0; i < N; ++i) contents[i] = (uint32)held[i / kPair].e[i % kPair];
  return true;
}

// Tells a rank which collective this is.
DEVICE void send_name(const Params& p, int rank, int half, uint32 number) {
  store_packets(slot_of(p, rank, kOwn, half), Pack<uint64, 1>{packet((uint32)kIdentity, number)});
}
// False if a rank is in another collective, or does not come.
DEVICE bool is_same_collective(const Params& p, int rank, int half, uint32 number) {
  uint32 name = 0;
  if (!receive<1>(p, rank, slot_of(p, kOwn, rank, half), 0, number, &name)) return false;
  if (name != (uint32)kIdentity) give_up(p, rank, kIsAnother, name);
  return name == (uint32)kIdentity;
}
