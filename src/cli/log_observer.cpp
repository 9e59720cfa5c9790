#include "cli/log_observer.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/convert/print_conversion.h"
#include "cli/options/remedies.h"
#include "cli/output_files.h"
#include "report/debug/text_debug.h"
#include "report/inspect/text_model.h"
#include "report/inspect/text_sparsity.h"
#include "report/run/text_run.h"
#include "report/run/text_stats.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace fs = std::filesystem;

void LogObserver::on_finding(const Diagnostic& finding) {
  const LogLevel level = finding.severity == Severity::info ? LogLevel::info : LogLevel::warning;
  log_.write(level, arguments_.as_typed(finding.message + remedy_text(finding.remedy, arguments_)));
}

void LogObserver::on_progress(const tasks::Progress& progress) {
  constexpr double kQuietSeconds = 2;
  constexpr double kStepSeconds = 0.2;
  const double now = progress.seconds;
  if (progress.is_over) {
    shown_seconds_ = 0;
    return log_.status("");
  }
  if (now < kQuietSeconds || now - shown_seconds_ < kStepSeconds) return;
  shown_seconds_ = now;
  if (progress.total < progress.done) {
    return log_.status(fmt::format("{}: {} done, {:.0f} s", progress.what, progress.done, now));
  }
  const double left = now / static_cast<double>(progress.done) * static_cast<double>(progress.total - progress.done);
  log_.status(fmt::format("{}: {} of {}, {:.0f} s left", progress.what, progress.done, progress.total, left));
}

void LogObserver::on_loaded(const ir::Model& model, const std::string& path) {
  if (path == "-") return;
  const std::string named = arguments_.knows("--external-data-dir") ? arguments_.value("--external-data-dir") : "";
  check_external_files(arguments_, model, named.empty() ? fs::path(path).parent_path() : fs::path(named));
}

void LogObserver::on_model(tasks::ModelStage stage, const ir::Model& model) {
  if (!log_.enabled(LogLevel::info)) return;
  report::TextModelListing listing({.is_brief = true, .is_as_there = is_as_there_});
  tasks::list_briefly(model, listing);
  const std::string_view title = stage == tasks::ModelStage::original  ? "Original Model:"
                                 : stage == tasks::ModelStage::changed ? "New Model:"
                                                                       : "New Model (each of them):";
  log_.info(fmt::format("{}\n{}", title, listing.take_text()));
}

void LogObserver::on_skipped_weight(const results::SkippedWeight& weight) {
  log_.write(weight.worth_a_warning ? LogLevel::warning : LogLevel::verbose, report::skipped_line(weight));
}

void LogObserver::on_conversion(const results::ConversionReport& report) {
  print_conversion(report, arguments_.knows("--report-error") && arguments_.flag("--report-error"), log_);
  const bool may_choose = arguments_.knows("--asymmetric") && !arguments_.flag("--asymmetric");
  if (report.conversion == "int8" && report.changed && may_choose) {
    log_.info("ONNX Runtime's CPU kernels run such a model slowly: --asymmetric makes one for them");
  }
}

void LogObserver::on_runner_opening(const results::RunnerRun& run) {
  if (run.is_live) log_.start(fmt::format("{:<35} | Activating and starting inference", printable(run.runner)));
}

void LogObserver::on_runner_opened(const results::RunnerRun& run, std::string_view description) {
  if (!description.empty()) log_.info(description);
  if (run.assignment.empty()) return;
  log_.info(fmt::format("{:<35}\n---- Nodes by Provider ----\n{}", printable(run.runner),
                        report::assignment_text(run.assignment)));
}

void LogObserver::on_inputs(const results::RunnerRun& run, uint64_t iteration, const tensor::NamedData&) {
  if (iteration != 0) return;
  log_.info(fmt::format("{:<35}\n---- Inference Input(s) ----\n{}", printable(run.runner), values_text(run.inputs)));
}

void LogObserver::on_runner_finished(const results::RunnerRun& run) {
  if (!run.is_live) return;
  log_.info(fmt::format("{:<35}\n---- Inference Output(s) ----\n{}", printable(run.runner), values_text(run.outputs)));
  for (const results::RunValue& output : run.outputs) {
    if (!output.stats) continue;
    log_.info(fmt::format("    {}: {} | Stats: {}", printable(run.runner), printable(output.name),
                          report::stats_text(*output.stats)));
  }
  if (run.iterations == 0) return;
  // Shows 0 for less than the clock can tell.
  const auto shown = [](double ms) { return ms < 0.0001 ? std::string("0") : fmt::format("{:.4g}", ms); };
  const double total_ms = run.run_seconds * 1e3;
  log_.finish(fmt::format("{:<35} | Completed {} iteration(s) in {} ms | Average inference time: {} ms.",
                          printable(run.runner), run.iterations, shown(total_ms),
                          shown(total_ms / static_cast<double>(run.iterations))));
}

void LogObserver::on_runner_failed(const results::RunnerRun&, const Error& error) {
  log_.error("error: " + arguments_.as_typed(line_of(error, arguments_)));
}

void LogObserver::on_iteration(const results::DebugIteration& iteration, std::optional<uint64_t> remaining) {
  log_.start(report::iteration_begin_line(iteration, remaining));
  std::fflush(nullptr);  // a signal may end the program meanwhile
}

void LogObserver::on_iteration_judged(const results::DebugIteration& iteration, const results::CheckOutput& output) {
  const bool is_shown = iteration.passed ? arguments_.flag("--show-output") : !arguments_.flag("--hide-fail-output");
  if (is_shown) {
    if (!output.out.empty()) log_.info(report::captured_text("STDOUT", output.out));
    const LogLevel level = iteration.passed ? LogLevel::warning : LogLevel::error;
    if (!output.err.empty()) log_.write(level, report::captured_text("STDERR", output.err));
  }
  for (const std::string& doubt : report::iteration_doubts(iteration, output)) log_.warning(doubt);
  if (!iteration.is_unresolved) log_.verdict(iteration.passed, report::iteration_end_line(iteration));
}

std::string LogObserver::values_text(const std::vector<results::RunValue>& values) const {
  constexpr size_t kMostListed = 30;
  return report::values_text(values, log_.enabled(LogLevel::verbose) ? values.size() : kMostListed, kListsAll);
}

}  // namespace assay::cli
