#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "ir/model.h"
#include "results/conversion.h"
#include "results/debug.h"
#include "results/run_report.h"
#include "results/sparsity.h"
#include "tensor/named.h"

namespace assay::tasks {

// The progress of one kind of work in a task.
struct Progress {
  std::string_view what;  // `iterations`, as status lines call it
  uint64_t done = 0;
  uint64_t total = 0;  // 0: unknown
  double seconds = 0;  // since this work began
  bool is_over = false;
};

// The point at which a task that changes a model shows it.
enum class ModelStage : uint8_t { original, changed, one_of_several };

// Sees a task at work. By default every member does nothing. Calls come from the thread that runs the task; an
// exception from a member ends the task like any other error.
class Observer {
 public:
  using Where = std::source_location;
  virtual ~Observer() = default;

  // A line for users about the current work; the task's results do not depend on it.
  virtual void on_message(LogLevel, std::string_view /*text*/, Where) {}
  // A finding about the model or the inputs: called once for each, as soon as it is known.
  virtual void on_finding(const Diagnostic&) {}
  // The last call for a kind of work has is_over set, and must not throw.
  virtual void on_progress(const Progress&) {}
  // The traceback of a user's script that failed; an Error follows.
  virtual void on_traceback(std::string_view /*lines*/) {}
  // A model was loaded and is still unchanged.
  virtual void on_loaded(const ir::Model&, const std::string& /*path*/) {}
  virtual void on_model(ModelStage, const ir::Model&) {}
  // A weight that is left unchanged.
  virtual void on_skipped_weight(const results::SkippedWeight&) {}

  // The result of a conversion and its loss, before the model is saved.
  virtual void on_conversion(const results::ConversionReport&) {}

  // Events of runs: one call for each runner and event. The RunnerRun is incomplete until on_runner_finished.
  virtual void on_runner_opening(const results::RunnerRun&) {}
  virtual void on_runner_opened(const results::RunnerRun&, std::string_view /*description*/) {}
  virtual void on_inputs(const results::RunnerRun&, uint64_t /*iteration*/, const tensor::NamedData&) {}
  // A value from a runner, borrowed for the call.
  virtual void on_value(const results::RunnerRun&, uint64_t /*iteration*/, std::string_view /*name*/,
                        const tensor::Datum&) {}
  virtual void on_runner_finished(const results::RunnerRun&) {}
  virtual void on_runner_failed(const results::RunnerRun&, const Error&) {}

  // Events of debugging loops: a round that begins, with how many may follow, and one that was judged.
  virtual void on_iteration(const results::DebugIteration&, std::optional<uint64_t> /*remaining*/) {}
  virtual void on_iteration_judged(const results::DebugIteration&, const results::CheckOutput&) {}

  // Asked between pieces of work: true ends the task with an Error (cancelled), and nothing is left half-written.
  virtual bool is_cancelled() { return false; }

  void verbose(std::string_view text, Where where = Where::current()) { on_message(LogLevel::verbose, text, where); }
  void info(std::string_view text, Where where = Where::current()) { on_message(LogLevel::info, text, where); }
  void warning(std::string_view text, Where where = Where::current()) { on_message(LogLevel::warning, text, where); }
};

// Error (cancelled) if the observer says so.
void check_cancelled(Observer& observer);

// Steps of so many iterations with `each` steps; 0, not known, where the source gives no number or one beyond all
// sense.
uint64_t counted_steps(std::optional<uint64_t> iterations, uint64_t each);

// Counts work of one kind for an observer.
class Counter {
 public:
  // `total` 0: not known.
  Counter(Observer& observer, std::string what, uint64_t total = 0);
  ~Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void expect(uint64_t total) { total_ = total; }
  // Error (cancelled) if the observer says so.
  void advance();

 private:
  Observer& observer_;
  std::string what_;
  uint64_t total_;
  uint64_t done_ = 0;
  Stopwatch since_;
};

// For exec::SessionOptions::on_layer: counts the layers of each plan.
std::function<void(uint64_t done, uint64_t total)> layer_counter(Observer& observer);

}  // namespace assay::tasks
