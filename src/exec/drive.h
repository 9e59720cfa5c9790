#pragma once

#include "base/error.h"
#include "exec/data_source.h"
#include "exec/runner.h"
#include "exec/tap_plan.h"

namespace assay::exec {

struct DrivePlan {
  uint64_t warm_up = 0;        // untimed runs of each live runner before its first iteration
  TapPlan taps;                // the values requested from live runners
  bool is_sequential = false;  // each runner does all its iterations, and is closed, before the next one is opened
  uint64_t jobs = 1;           // live runners, each in a process of its own, that run at a time
};

// Sees everything that drive() does, in order; what is not overridden is not looked at. Runners are counted as they
// were given.
class DriveWatcher {
 public:
  virtual ~DriveWatcher() = default;
  virtual void on_opening(size_t /*runner*/) {}
  virtual void on_opened(size_t /*runner*/) {}
  // A requested value that the runner does not simply give; an absent one is not requested from it.
  virtual void on_answer(size_t /*runner*/, const std::string& /*value*/, const TapAnswer&) {}
  virtual void on_feeds(size_t /*runner*/, uint64_t /*iteration*/, const tensor::NamedData&) {}
  virtual void on_value(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) = 0;
  // All values of the iteration have been seen.
  virtual void on_iteration(size_t /*runner*/, uint64_t /*iteration*/, std::optional<double> /*seconds*/) {}
  // The runner has no more iterations.
  virtual void on_finished(size_t /*runner*/) {}
  // A backend refused, failed, died or met a limit; nothing more comes from it.
  virtual void on_failure(size_t runner, const Error& error) = 0;
  virtual bool wants_stop() const = 0;
};

// Runs every runner over all iterations; the last open runners stay open. A runner that fails ends alone, whatever the
// reason. Errors of opening with wrong settings (usage), of the source and of the watcher end everything. `source` may
// be null if no runner is live.
void drive(std::span<const RunnerPtr> runners, DataSource* source, const DrivePlan& plan, DriveWatcher& watcher,
           Diagnostics& findings);

}  // namespace assay::exec
