// A kernel of one block by which ranks meet: each tells the others where its part lies, or that it has read theirs, and
// waits until all have.
WAITING_KERNEL(kThreads) {
  int* const state = own_state(p);
  const Pack<int, 2> last = *(const Pack<int, 2>*)state;
  if (last.e[1] != 0) return;
  const uint32 number = (uint32)last.e[0] + 1;
  const int half = number % 2, rank = thread_index();
  if (rank < kRanks && rank != kOwn) {
    const uint64 wanted = (uint64)number << 32 | (uint32)kIdentity;
    *(uint64*)inbox(p, rank, kOwn, half) = (uint64)kIn;
    store_for_all(sign(p, rank, kOwn, half), wanted);
    if (wait_for(p, rank, half, wanted)) parts_told(p)[rank] = *(const uint64*)inbox(p, kOwn, rank, half);
  }
  meet();
  if (rank == 0) state[0] = (int)number;
}
