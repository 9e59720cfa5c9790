#include "cli/run/pipeline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/log_observer.h"
#include "cli/options/groups/json.h"
#include "cli/run/settings_words.h"
#include "cli/run/status.h"
#include "report/json_reports.h"
#include "report/run/text_comparison.h"
#include "tasks/pipeline.h"

namespace assay::cli {
namespace {

using results::PipelineReport;
using results::StageReport;
using results::Verdict;

void refuse_others(const Arguments& arguments) {
  constexpr std::string_view kOthers[] = {
      "--decode",        "--iterations",     "--load-outputs",          "--save-outputs",
      "--save-onnx",     "--gen-script",     "--save-accuracy-results", "--report",
      "--junit",         "--onnx-outputs",   "--save-heatmaps",         "--trt-engine",
      "--show-heatmaps", "--save-input-blob"};
  for (const std::string_view option : kOthers) {
    if (arguments.knows(option) && arguments.has(option))
      fail(ErrorCode::unsupported, "{} is about one model, and a pipeline is given", option);
  }
}

// The greatest absolute difference of all outputs; empty: nothing was compared.
std::string worst_of(const std::vector<results::PairComparison>& pairs) {
  std::optional<double> worst;
  for (const results::PairComparison& pair : pairs) {
    for (const results::IterationComparison& iteration : pair.iterations) {
      for (const results::OutputComparison& output : iteration.outputs) {
        if (!output.metrics) continue;
        const double error = output.metrics->absolute.greatest;
        if (!worst || std::isnan(error) || error > *worst) worst = error;
      }
    }
  }
  return worst ? fmt::format("{:.4g}", *worst) : "-";
}

void print_table(const PipelineReport& report, Log& log) {
  size_t width = 5;
  for (const StageReport& stage : report.stages) width = std::max(width, printable(stage.name).size());
  log.info(fmt::format("Pipeline | {} stage(s) | greatest absolute difference at the seams", report.stages.size()));
  const Log::Indent indent(log);
  log.info(fmt::format("{:<{}} | {:>22} | {:>22}", "stage", width, "on the same inputs", "on its own"));
  const auto cell = [](const std::vector<results::PairComparison>& pairs, Verdict verdict) {
    return fmt::format("{:>12} {:>9}", worst_of(pairs), verdict_word(verdict));
  };
  for (const StageReport& stage : report.stages) {
    const std::string own =
        stage.chained.empty() ? fmt::format("{:>22}", "-") : cell(stage.chained, stage.chained_verdict);
    log.info(
        fmt::format("{:<{}} | {} | {}", printable(stage.name), width, cell(stage.run.pairs, stage.run.verdict), own));
  }
}

std::string command_of(const PipelineReport& report, const tasks::RunRequest& request) {
  const auto stage = std::ranges::find(report.stages, report.first_guilty, &StageReport::name);
  const auto pair = std::ranges::find(stage->run.pairs, Verdict::different, &results::PairComparison::verdict);
  if (pair == stage->run.pairs.end() || request.backends.empty()) return {};
  const auto place = static_cast<size_t>(
      std::ranges::find(stage->run.runs, pair->runner_a, &results::RunnerRun::runner) - stage->run.runs.begin());
  if (place + 1 >= request.backends.size()) return {};
  std::string sides = "--" + request.backends[place];
  if (request.backends[place] != request.backends[place + 1]) sides += " --against " + request.backends[place + 1];
  return fmt::format("assay debug accuracy {} {} --load-inputs {}", stage->run.model, sides,
                     report.inputs.empty() ? "stage.npz" : report.inputs);
}

void print_verdict(PipelineReport& report, const tasks::RunRequest& request, const Arguments& arguments, Log& log) {
  if (report.verdict == Verdict::different && report.first_guilty.empty()) {
    log.info("No stage differs on the same inputs: small differences grow along the pipeline");
  }
  if (report.first_guilty.empty()) return;
  const auto stage = std::ranges::find(report.stages, report.first_guilty, &StageReport::name);
  log.verdict(false, fmt::format("First file at fault: {} (stage `{}`)", printable(stage->run.model),
                                 printable(report.first_guilty)));
  std::string command = command_of(report, request);
  if (command.empty()) return;
  command += settings_words(arguments);
  if (!report.inputs.empty()) report.command = command;
  log.info(fmt::format(
      "{}{}",
      report.inputs.empty() ? "With --save-inputs stage.npz, its inputs are saved; then: " : "The layer is found by: ",
      printable(command)));
}

}  // namespace

int run_stages(const RunWords& words, const Arguments& arguments, Environment& environment) {
  refuse_others(arguments);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  PipelineReport report = tasks::run_pipeline({words.request.model.path, words.request}, observer);
  for (const StageReport& stage : report.stages) {
    if (stage.run.pairs.empty()) continue;
    environment.log.info(fmt::format("Stage `{}`", printable(stage.name)));
    const Log::Indent indent(environment.log);
    for (const results::PairComparison& pair : stage.run.pairs) report::print_comparison(pair, environment.log);
  }
  print_table(report, environment.log);
  print_verdict(report, words.request, arguments, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  environment.log.verdict(report.verdict == Verdict::equal,
                          fmt::format("{} | Runtime: {:.3f}s | Command: {}", verdict_word(report.verdict),
                                      report.timings.back().second, command));
  return status_of(report.verdict);
}

}  // namespace assay::cli
