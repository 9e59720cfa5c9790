#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/ranks.h"

namespace assay::backends {

// The place where the ranks of one model, a thread each, meet for their collectives. What one of them fails by ends the
// run of all; the first failure is kept.
class Meeting {
 public:
  Meeting(int64_t count, double deadline_seconds, bool uses_library = false);
  ~Meeting();

  // Before and after a run, while no rank runs.
  void begin();
  void end();
  ops::Ranks& rank(int64_t number);
  // The run of a rank has come to its end: what others still expect of it, it will not do.
  void leave(int64_t rank);
  // A rank has failed by itself. Ranks that wait are released. Of several, the lowest one counts.
  void fail_by(int64_t rank, Error error);
  // True if a rank was told at a collective that the run has ended: what it fails by is not its own fault.
  bool was_released(int64_t rank) const;
  // Ends the run of all, because of the caller.
  void cancel();
  // The failure that ends this run.
  std::optional<Error> failure() const;
  int64_t count() const { return static_cast<int64_t>(is_done_.size()); }

 private:
  class Member;
  struct Round;

  void meet(int64_t rank, const ops::Collective& collective, const tensor::Tensor& mine,
            FunctionRef<void(std::span<const tensor::Tensor> parts)> combine);
  void release(int64_t rank);
  void tell(std::weak_ptr<ops::WaitingKernels> kernels);
  void each_waiting(FunctionRef<void(ops::WaitingKernels& kernels)> fn) const;
  void end_by(Error error);
  void notify();
  void spin(std::unique_lock<std::mutex>& lock);
  template <typename Done>
  void wait(std::unique_lock<std::mutex>& lock, const Round& round, Done&& done);
  // Keeps the error, if it is the first, and throws the one that is kept.
  [[noreturn]] void stop(Error error);
  void check_same(const Round& round);
  Error missing(const Round& round, bool is_late) const;
  bool is_hopeless(const Round& round) const;

  double deadline_seconds_;
  bool uses_library_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint64_t> changes_ = 0;
  std::vector<bool> is_done_;  // by rank
  std::map<std::vector<int64_t>, std::unique_ptr<Round>> rounds_;
  std::vector<std::unique_ptr<Member>> members_;
  std::map<std::vector<int64_t>, std::shared_ptr<void>> shared_;
  std::vector<std::weak_ptr<ops::WaitingKernels>> waiting_;
  ops::WaitingTurn turn_;
  std::optional<uint64_t> era_;    // nullopt: no run has begun, for callers that tell of none
  std::vector<bool> is_released_;  // by rank
  std::optional<Error> failure_;
  std::optional<int64_t> failed_rank_;  // by which it is
};

}  // namespace assay::backends
