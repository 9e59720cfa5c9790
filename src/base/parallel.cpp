#include "base/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>

#include "base/check.h"
#include "base/float_rules.h"

namespace assay {
namespace {

constexpr std::chrono::microseconds kSpin{200};
constexpr uint32_t kClosed = 1u << 31;

unsigned affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) return unsigned(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// True while this thread works on one of several pieces; calls from there stay in the thread.
bool& inside_piece() {
  thread_local bool inside = false;
  return inside;
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins for a short while, then sleeps, until waiting(word) is false. Who changes `word` must notify.
template <typename Fn>
void wait_while(const std::atomic<uint32_t>& word, Fn waiting) {
  constexpr int kLooks = 32;  // before the clock is read again
  const std::chrono::steady_clock::time_point end_of_spin = std::chrono::steady_clock::now() + kSpin;
  uint32_t seen = word.load();
  while (waiting(seen) && std::chrono::steady_clock::now() < end_of_spin) {
    for (int i = 0; i < kLooks && waiting(seen); ++i, seen = word.load()) relax();
  }
  for (; waiting(seen); seen = word.load()) word.wait(seen);
}

// The pieces of one call of parallel_for.
class Pieces {
 public:
  Pieces(uint64_t count, uint64_t grain, FunctionRef<void(uint64_t, uint64_t)> fn)
      : count_(count), grain_(grain), pieces_(count / grain + (count % grain != 0)), fn_(fn) {}

  uint64_t count() const { return pieces_; }
  void run(uint64_t piece) const {
    const uint64_t begin = piece * grain_;
    fn_(begin, begin + std::min(grain_, count_ - begin));
  }

 private:
  const uint64_t count_;
  const uint64_t grain_;
  const uint64_t pieces_;
  const FunctionRef<void(uint64_t, uint64_t)> fn_;
};

// Hands out pieces. Each thread has a share of neighbouring ones, the same in every call of as many pieces, so that it
// often finds in its own caches what it wrote in the call before; when its share is done, it helps with the others.
class Job {
 public:
  Job(const Pieces& pieces, unsigned threads)
      : pieces_(pieces),
        share_count_(static_cast<unsigned>(std::min<uint64_t>({threads, kMostShares, pieces.count()}))) {
    const uint64_t each = pieces.count() / share_count_;
    const uint64_t longer = pieces.count() % share_count_;
    uint64_t begin = 0;
    for (unsigned i = 0; i < share_count_; ++i) {
      shares_[i].next = begin;
      shares_[i].end = begin += each + (i < longer ? 1 : 0);
    }
  }

  // Takes pieces, in ascending order from each share, until none is left. After a failure only those below it matter.
  void work(unsigned thread) {
    const FloatScope scope(rules_);
    for (unsigned i = 0; i < share_count_; ++i) {
      Share& share = shares_[(thread + i) % share_count_];
      for (uint64_t piece = share.next++; piece < share.end && piece < failed_; piece = share.next++) {
        try {
          pieces_.run(piece);
        } catch (...) {
          note_failure(piece);
        }
      }
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr unsigned kMostShares = 16;
  struct alignas(64) Share {
    std::atomic<uint64_t> next = 0;
    uint64_t end = 0;
  };

  void note_failure(uint64_t piece) {
    const std::lock_guard lock(mutex_);
    if (piece >= failed_) return;
    failed_ = piece;
    error_ = std::current_exception();
  }

  const Pieces& pieces_;
  const FloatRules rules_ = FloatRules::current();
  const unsigned share_count_;
  std::array<Share, kMostShares> shares_;
  std::atomic<uint64_t> failed_ = std::numeric_limits<uint64_t>::max();
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

class ThreadPool::Workers {
 public:
  explicit Workers(unsigned count) { set_count(count); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  static Workers& of_process();
  // The workers that the calling thread uses; null: those of the process.
  static Workers*& chosen();
  static Workers& current() { return chosen() == nullptr ? of_process() : *chosen(); }

  unsigned count() const { return count_; }
  void set_count(unsigned count) { count_ = count == 0 ? affinity_cores() : count; }
  void run(Job& job);

 private:
  void have_workers(unsigned count);
  void part_from_caller();
  void stop_workers();
  void worker(unsigned index, uint32_t seen);

  std::mutex run_mutex_;  // held by the caller whose job it is
  std::atomic<unsigned> count_ = 1;
  std::vector<std::thread> workers_;
  unsigned wanted_workers_ = 0;
  int caller_core_ = -1;  // that the workers keep off; -1: of none
  Job* job_ = nullptr;
  std::atomic<bool> stop_ = false;
  std::atomic<uint32_t> generation_ = 0;    // counts the jobs
  std::atomic<uint32_t> inside_ = kClosed;  // workers that may touch the job; kClosed: no further one may
};

// A process that exits from inside a piece cannot wait for that piece.
ThreadPool::Workers::~Workers() {
  if (inside_piece()) {
    for (std::thread& worker : workers_) worker.detach();
    return;
  }
  const std::lock_guard lock(run_mutex_);
  stop_workers();
}

void ThreadPool::Workers::run(Job& job) {
  const std::lock_guard lock(run_mutex_);
  have_workers(count_ - 1);
  part_from_caller();
  job_ = &job;
  inside_ &= ~kClosed;
  ++generation_;
  generation_.notify_all();
  inside_piece() = true;
  job.work(0);
  inside_piece() = false;
  inside_ |= kClosed;
  wait_while(inside_, [](uint32_t inside) { return inside != kClosed; });
}

// Starts the workers. If the system gives fewer threads than asked for, these do all the work.
void ThreadPool::Workers::have_workers(unsigned count) {
  if (wanted_workers_ == count) return;
  stop_workers();
  workers_.reserve(count);
  wanted_workers_ = count;
  try {
    while (workers_.size() < count) {
      const auto index = static_cast<unsigned>(workers_.size() + 1);
      workers_.emplace_back(&Workers::worker, this, index, generation_.load());
    }
  } catch (const std::system_error&) {
    return;
  }
}

// A worker that wakes on the core of its caller, as systems like to arrange it, would take turns with it for whole
// milliseconds before it is moved.
void ThreadPool::Workers::part_from_caller() {
  const int core = sched_getcpu();
  if (workers_.empty() || core < 0 || core == caller_core_) return;
  caller_core_ = core;
  cpu_set_t others;
  CPU_ZERO(&others);
  if (sched_getaffinity(0, sizeof(others), &others) != 0) return;
  CPU_CLR(static_cast<size_t>(core), &others);
  if (static_cast<size_t>(CPU_COUNT(&others)) < workers_.size()) return;
  for (std::thread& worker : workers_) pthread_setaffinity_np(worker.native_handle(), sizeof(others), &others);
}

void ThreadPool::Workers::stop_workers() {
  stop_ = true;
  ++generation_;
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  caller_core_ = -1;
  wanted_workers_ = 0;
  stop_ = false;
}

void ThreadPool::Workers::worker(unsigned index, uint32_t seen) {
  inside_piece() = true;
  chosen() = this;
  while (true) {
    wait_while(generation_, [seen](uint32_t generation) { return generation == seen; });
    seen = generation_;
    if (stop_) return;
    if ((inside_++ & kClosed) == 0) job_->work(index);
    if (--inside_ == kClosed) inside_.notify_all();
  }
}

ThreadPool::Workers& ThreadPool::Workers::of_process() {
  static Workers instance(0);
  return instance;
}

ThreadPool::Workers*& ThreadPool::Workers::chosen() {
  thread_local Workers* workers = nullptr;
  return workers;
}

ThreadPool::ThreadPool(unsigned count) : workers_(std::make_unique<Workers>(count)) {}
ThreadPool::~ThreadPool() = default;

PoolScope::PoolScope(const ThreadPool& pool)
    : outer_(std::exchange(ThreadPool::Workers::chosen(), pool.workers_.get())) {}
PoolScope::~PoolScope() { ThreadPool::Workers::chosen() = outer_; }

unsigned thread_count() { return ThreadPool::Workers::current().count(); }
void set_thread_count(unsigned count) { ThreadPool::Workers::of_process().set_count(count); }

void parallel_for(uint64_t count, uint64_t grain, FunctionRef<void(uint64_t begin, uint64_t end)> fn) {
  ASSAY_CHECK(grain > 0);
  const Pieces pieces(count, grain, fn);
  const unsigned threads = thread_count();
  if (pieces.count() <= 1 || inside_piece() || threads == 1) {
    for (uint64_t piece = 0; piece < pieces.count(); ++piece) pieces.run(piece);
    return;
  }
  Job job(pieces, threads);
  ThreadPool::Workers::current().run(job);
  job.rethrow();
}

}  // namespace assay
