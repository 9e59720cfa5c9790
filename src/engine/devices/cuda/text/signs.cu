// Memory of ranks on cards of their own (exchange.h): each card has an inbox with a slot for each other rank, and signs that
// say what is there. Both have two halves, used in turns: who has seen the signs of a kernel knows that all have read what
// came for the one before it. The state of a rank: the number of its last kernel, that one has failed, and blocks of this
// one that are done; behind it are the addresses of parts.
DEVICE int* own_state(const Params& p) { return (int*)p.at[kFirstInbox + kRanks + kOwn]; }
DEVICE uint64* parts_told(const Params& p) { return (uint64*)own_state(p) + kPartsBegin; }
DEVICE uint8* inbox(const Params& p, int of, int from, int half) {
  const int slot = half * (kRanks - 1) + (from < of ? from : from - 1);
  return (uint8*)p.at[kFirstInbox + of] + (int64)slot * kPartBytes;
}
DEVICE uint64* sign(const Params& p, int of, int from, int half) {
  return (uint64*)p.at[kFirstInbox + kRanks + of] + kSignsBegin + (half * kRanks + from) * kMostBlocks + block_x();
}

// True once a rank's sign is there; if it will not be, the host is told why. kWords: that the run has failed, then that
// ranks have left, then the faults that they saw.
DEVICE bool wait_for(const Params& p, int rank, int half, uint64 wanted) {
  constexpr int kTurns = 64;  // between looks at memory of the host
  const uint64* const at = sign(p, kOwn, rank, half);
  const uint64 begin = nanoseconds();
  for (int turn = 1;; ++turn) {
    const uint64 seen = load_of_all(at);
    if (seen == wanted) return true;
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
      own_state(p)[1] = 1;
      store_for_all(kWords + 1 + kRanks + kOwn,
                    fault | (uint64)rank << 8 | (wanted & 0xffff) << 16 | (seen & 0xffff) << 32);
      return false;
    }
    rest();
  }
}
