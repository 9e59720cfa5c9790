#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "compare/runs/run_comparer.h"
#include "exec/drive.h"
#include "formats/saved_data.h"
#include "results/run_report.h"
#include "tasks/run.h"
#include "tasks/run/script_comparer.h"

namespace assay::tasks {

// The work around the runs: fills the report, saves data, compares, and informs the observer.
class RunWatcher final : public exec::DriveWatcher {
 public:
  // `findings` gets more while runs go on; the observer is told each once.
  RunWatcher(const RunRequest& request, std::span<const exec::RunnerPtr> runners, const Diagnostics& findings,
             Observer& observer, remote::PythonHost* host);

  // So that progress can say how much is left. `source`: the inputs of those that are live.
  void expect_iterations(const exec::DataSource* source);

  void on_opening(size_t runner) override;
  void on_opened(size_t runner) override;
  void on_answer(size_t runner, const std::string& value, const exec::TapAnswer& answer) override;
  void on_feeds(size_t runner, uint64_t iteration, const tensor::NamedData& feeds) override;
  void on_value(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) override;
  void on_iteration(size_t runner, uint64_t iteration, std::optional<double> seconds) override;
  void on_finished(size_t runner) override;
  void on_failure(size_t runner, const Error& failure) override;
  bool wants_stop() const override {
    return comparer_.wants_stop() || (script_comparer_ && script_comparer_->wants_stop());
  }

  // A runner that failed before it or a later one gave a value is left out, and its neighbours are compared with each
  // other. Called with its name.
  void set_on_left_out(std::function<void(const std::string& runner)> fn) { on_left_out_ = std::move(fn); }
  void tell_findings();
  // Writes the data to save, and moves everything into the report.
  void save();
  results::RunReport take(formats::SavedRuns& outputs);

 private:
  void record(size_t runner, std::string_view name, const tensor::Datum& value);
  void validate(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value);
  // Validates and compares a value that is ready.
  void judge(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value);
  void judge_whole(size_t runner, uint64_t iteration, double seconds);
  // The index of a runner among those that are compared.
  size_t place_of(size_t runner) const;

  const RunRequest& request_;
  std::span<const exec::RunnerPtr> runners_;
  const Diagnostics& findings_;
  size_t told_findings_ = 0;
  std::set<std::string> told_messages_;
  Observer& observer_;
  Counter counter_;
  compare::RunComparer comparer_;
  remote::PythonHost* host_;  // null: the user has no scripts
  std::optional<ScriptComparer> script_comparer_;
  std::vector<tensor::NamedData> whole_;  // outputs of the current iteration, for scripts
  results::RunReport report_;
  std::vector<Stopwatch> loading_;
  std::vector<size_t> compared_;  // the runners that are compared, each with the next one
  std::function<void(const std::string& runner)> on_left_out_;
  formats::SavedInputs inputs_;
  formats::SavedRuns outputs_;
};

}  // namespace assay::tasks
