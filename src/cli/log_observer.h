#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/peer.h"
#include "tasks/observer.h"

namespace assay::cli {

// Prints on the log what a task does, and refuses to load a model whose weights an option would overwrite.
class LogObserver final : public tasks::Observer {
 public:
  LogObserver(const Arguments& arguments, Environment& environment)
      : arguments_(arguments), log_(environment.log), is_as_there_(is_called_as_peer(environment)) {}

  void on_message(LogLevel level, std::string_view text, Where where) override { log_.write(level, text, where); }
  void on_finding(const Diagnostic& finding) override;
  void on_progress(const tasks::Progress& progress) override;
  void on_traceback(std::string_view lines) override { log_.keep_details(lines); }
  void on_loaded(const ir::Model& model, const std::string& path) override;
  void on_model(tasks::ModelStage stage, const ir::Model& model) override;
  void on_skipped_weight(const results::SkippedWeight& weight) override;

  void on_conversion(const results::ConversionReport& report) override;

  void on_runner_opening(const results::RunnerRun& run) override;
  void on_runner_opened(const results::RunnerRun& run, std::string_view description) override;
  void on_inputs(const results::RunnerRun& run, uint64_t iteration, const tensor::NamedData& inputs) override;
  void on_runner_finished(const results::RunnerRun& run) override;
  void on_runner_failed(const results::RunnerRun& run, const Error& error) override;

  void on_iteration(const results::DebugIteration& iteration, std::optional<uint64_t> remaining) override;
  void on_iteration_judged(const results::DebugIteration& iteration, const results::CheckOutput& output) override;

 private:
  std::string values_text(const std::vector<results::RunValue>& values) const;

  const Arguments& arguments_;
  Log& log_;
  bool is_as_there_;          // models are listed as the peer does
  double shown_seconds_ = 0;  // when a status was last printed, on the clock of its work
};

}  // namespace assay::cli
