#pragma once

#include <deque>
#include <set>

#include "sweep/journal.h"
#include "tasks/sweep/messages.h"
#include "tasks/sweep/workers.h"

namespace assay::tasks {

// Gives units to workers, and records what comes of them.
class Driver {
 public:
  // All of them must outlive it. `done`: keys that have a result.
  Driver(const SweepRequest& request, const results::SweepPlan& plan, Workers& workers, std::set<std::string> done,
         Observer& observer);
  void run();

 private:
  struct Task {
    UnitGroup group;
    uint64_t attempt = 0;
  };
  struct Slot {
    std::optional<Task> task;
    std::set<size_t> left;     // columns that have no result
    std::optional<size_t> at;  // the column at work
    bool has_begun = false;    // the worker has heard of its task
    Stopwatch since;           // the last sign of life
  };

  void make_tasks();
  void start(size_t worker);
  bool is_idle() const;
  void hear(const WorkerEvent& event);
  void hear_line(size_t worker, const std::string& line);
  void check_time(size_t worker);
  // The worker ended in mid-unit: the column at work is to blame, and the others are run again.
  void lose(size_t worker, results::UnitStatus status, const std::string& reason);
  // Records a result, or puts it off to another attempt.
  void settle(size_t worker, const Task& task, size_t column, const results::SweepUnit& unit);
  // Writes what came since: workers have something to do meanwhile.
  void record_all();
  double seconds_to_wait() const;

  const SweepRequest& request_;
  const results::SweepPlan& plan_;
  Workers& workers_;
  std::set<std::string> done_;
  Counter counter_;
  std::deque<Task> tasks_;
  std::deque<Task> later_;  // further attempts, one at a time when all else is done
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<sweep::JournalWriter>> journals_;
  std::vector<std::pair<size_t, results::SweepUnit>> unrecorded_;  // with their workers
};

}  // namespace assay::tasks
