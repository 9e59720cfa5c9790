#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.h"

namespace assay {

// How many threads work, the caller included. Default, and what 0 sets: the cores of the process's affinity.
unsigned thread_count();
void set_thread_count(unsigned count);

// Calls fn(begin, end) for pieces that together are [0, count), each of `grain` items but the last; which thread takes
// which piece is not fixed, so fn must write only what belongs to its piece. Returns when all are done; of the
// exceptions thrown, that of the lowest piece is rethrown. A call from inside one of several pieces runs in the calling
// thread. Calls from several threads at once take turns. The threads are made by the first call of more than one piece.
void parallel_for(uint64_t count, uint64_t grain, FunctionRef<void(uint64_t begin, uint64_t end)> fn);

// Combines fn(begin, end) of pieces of `grain` items in the order of the pieces, so that the result does not depend on
// the number of threads.
template <typename T, typename Fn, typename Combine>
T parallel_reduce(uint64_t count, uint64_t grain, T start, Fn&& fn, Combine&& combine) {
  std::vector<T> parts((count + grain - 1) / grain, start);
  parallel_for(count, grain, [&](uint64_t begin, uint64_t end) { parts[begin / grain] = fn(begin, end); });
  for (T& part : parts) start = combine(start, part);
  return start;
}

}  // namespace assay
