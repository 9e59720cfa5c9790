// A kernel of one block by which ranks meet: each tells the others where its part lies, or that it has read theirs, and
// waits until all have.
WAITING_KERNEL(kThreads) {
  int* const state = own_state(p);
  const Pack<int, 2> last = *(const Pack<int, 2>*)state;
  if (last.e[1] != 0) return;
  const uint32 number = (uint32)last.e[0] + 1;
  const int half = number % 2, rank = (int)thread_index();
  if (rank < kRanks && rank != kOwn) {
    publish_to_all();
    const uint64 part = (uint64)kIn;
    send_name(p, rank, half, number);
    store_packets(slot_of(p, rank, kOwn, half) + kHeaderWords,
                  Pack<uint64, 2>{packet((uint32)part, number), packet((uint32)(part >> 32), number)});
    uint32 words[2] = {};
    const bool is_there = is_same_collective(p, rank, half, number) &&
                          receive<2>(p, rank, slot_of(p, kOwn, rank, half) + kHeaderWords, 0, number, words);
    publish_to_all();
    if (is_there) parts_told(p)[rank] = (uint64)words[1] << 32 | words[0];
  }
  meet();
  if (rank == 0) state[0] = (int)number;
}
