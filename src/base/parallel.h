#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/function_ref.h"

namespace assay {

// Threads that work for the calls of parallel_for made under a PoolScope, the caller included. They are started by the
// first call of more than one piece.
class ThreadPool {
 public:
  explicit ThreadPool(unsigned count = 0);  // 0: the cores of the process's affinity
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  friend class PoolScope;
  friend unsigned thread_count();
  friend void set_thread_count(unsigned count);
  friend void parallel_for(uint64_t count, uint64_t grain, FunctionRef<void(uint64_t begin, uint64_t end)> fn);
  class Workers;
  std::unique_ptr<Workers> workers_;
};

// While it lives, the calls of its thread use this pool instead of the process's.
class PoolScope {
 public:
  explicit PoolScope(const ThreadPool& pool);
  ~PoolScope();
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  ThreadPool::Workers* outer_;
};

// The number of threads that work for calls of this thread, the caller included.
unsigned thread_count();
// Sets the number of threads of the process's pool; 0 means the default: the cores of the process's affinity.
void set_thread_count(unsigned count);

// Calls fn(begin, end) for pieces that together are [0, count), each of `grain` items but the last; which thread takes
// which piece is not fixed, so fn must write only what belongs to its piece. Returns when all are done; of the
// exceptions thrown, that of the lowest piece is rethrown. A call from inside one of several pieces runs in the calling
// thread. Calls from several threads at once that share a pool take turns. All threads compute by the caller's
// FloatRules.
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
