#include "cli/options/groups/run.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/convert/weights.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/calibration.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/config_script.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/generation.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/ranks.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/remedies.h"
#include "cli/peer.h"
#include "cli/run/generation.h"
#include "cli/run/pipeline.h"
#include "cli/run/reports.h"
#include "cli/run/request.h"
#include "cli/run/script.h"
#include "cli/run/status.h"
#include "report/json_reports.h"
#include "report/run/text_comparison.h"
#include "report/run/text_run.h"
#include "tasks/pipeline.h"

namespace assay::cli {
namespace {

void print_runs(const results::RunReport& report, const tasks::RunRequest& request, Log& log) {
  for (const results::PairComparison& pair : report.pairs) {
    report::ComparisonHints hints = {.unpaired = " (--match pairs outputs of different names)", .more = kListsAll};
    if (request.leaves_out_unpaired) hints.left_out = "";
    report::print_comparison(pair, log, hints);
  }
  for (const results::PairAverages& averages : report.averages) report::print_averages(averages, log);
  if (request.validate) report::print_validation(report, log);
}

const results::PairMetrics* metrics_of(const results::PairComparison& pair, const std::string& name) {
  for (const results::IterationComparison& iteration : pair.iterations) {
    const auto output = std::ranges::find(iteration.outputs, name, &results::OutputComparison::name_a);
    if (output != iteration.outputs.end() && !output->passed && output->metrics) return &*output->metrics;
  }
  return nullptr;
}

void print_first_failure(const results::PairComparison& pair, Log& log) {
  const results::PairMetrics* metrics = pair.first_failed ? metrics_of(pair, *pair.first_failed) : nullptr;
  if (metrics == nullptr) return;
  log.verdict(false,
              fmt::format("{} vs. {} | First beyond tolerance in the order of the graph: `{}` (max abs {:.4g}, max rel "
                          "{:.4g})",
                          printable(pair.runner_a), printable(pair.runner_b), printable(*pair.first_failed),
                          metrics->absolute.greatest, metrics->relative.greatest));
}

// Sides of other precisions differ by more than rounding.
void print_precisions(const results::RunReport& report, const Arguments& arguments, Log& log) {
  if (report.verdict != results::Verdict::different || report.pairs.empty()) return;
  const auto is_used = [&](std::string_view option) {
    return arguments.flag(option) && (option != "--fp16" || arguments.flag("--strict"));
  };
  for (const auto& [option, type] : {std::pair("--bf16", "bfloat16"), std::pair("--best", "bfloat16"),
                                     std::pair("--int8", "int8"), std::pair("--fp16", "float16")}) {
    if (is_used(option))
      log.info(
          fmt::format("The engine computes in {} where it can ({}), the other side as the model says", type, option));
  }
}

void print_unused(const std::vector<compare::NamedOutput>& unused, const Arguments& arguments, Log& log) {
  for (const compare::NamedOutput& named : unused) {
    log.warning(
        fmt::format("{}: no output is called `{}`", option_of(named.setting, arguments), printable(named.name)));
  }
}

void print_answers(const results::RunReport& report, Log& log) {
  constexpr size_t kMostListed = 10;
  const size_t most = log.enabled(LogLevel::verbose) ? SIZE_MAX : kMostListed;
  for (const results::RunnerRun& run : report.runs) {
    if (run.answers.empty()) continue;
    log.info(fmt::format("{}: values that are not there as in the model:\n{}", run.runner,
                         report::answers_text(run.answers, most, kListsAll)));
  }
}

int finish(tasks::RunOutcome& outcome, const RunWords& words, const Arguments& arguments, Environment& environment) {
  const results::RunReport& report = outcome.report;
  if (!words.accuracy.empty()) {
    environment.log.info("Saving accuracy results to " + printable(words.accuracy));
    tasks::save_accuracy_results(words.accuracy, report, words.request.compare);
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  // Pages and JUnit are read by people: there a remedy is an option. JSON has its name.
  for (results::RunnerRun& run : outcome.report.runs) run.failure += remedy_text(run.remedy, arguments);
  write_reports(report, words.request.model, arguments, environment);
  environment.kept.push_back(std::move(outcome.sessions));
  if (outcome.save_failure) throw Error(*outcome.save_failure);
  return status_of(report);
}

int write_script(const RunWords& words, const Arguments& arguments, Environment& environment) {
  const std::string path = arguments.value("--gen-script");
  if (has_shard(arguments)) fail(ErrorCode::unsupported, "--gen-script: ranks cannot be written as a script");
  if (words.request.integers)
    fail(ErrorCode::unsupported, "--gen-script: the model of --int8 or --weights cannot be written as a script");
  const std::string script = run_script(words, arguments, printable(environment.command_line));
  OutputFile file(path);
  file.write(script);
  file.commit();
  environment.log.info("Writing script to " + printable(path));
  return kExitEqual;
}

// True if the request was met although nothing was compared.
bool passes_without_verdict(const results::RunReport& report, const RunWords& words) {
  return words.request.may_judge_nothing && report.verdict == results::Verdict::undecided &&
         std::ranges::all_of(report.runs, [](const results::RunnerRun& run) { return run.failure.empty(); });
}

// True if the engine that was asked for is there, and only a GPU to run it is missing.
bool is_saved_only(const results::RunReport& report, const tasks::RunRequest& request) {
  return report.runs.size() == 1 && report.runs[0].remedy == "tensorrt_device" && request.save_outputs.empty() &&
         !request.validate && request.session.settings.has("save-tensorrt-engine");
}

int run_run(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  RunWords words = parse_run(arguments, is_called_as_peer(environment));
  if (tasks::is_pipeline(words.request.model.path)) return run_stages(words, arguments, environment);
  if (arguments.has("--gen-script")) return write_script(words, arguments, environment);
  words.request.measures_all = arguments.has("--report") || environment.log.enabled(LogLevel::verbose);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  for (const std::string& note : words.notes) environment.log.warning(note);
  LogObserver observer(arguments, environment);
  const auto end = [&](results::Verdict verdict) {
    if (is_called_as_peer(environment) && verdict == results::Verdict::undecided) verdict = results::Verdict::different;
    environment.log.verdict(
        verdict == results::Verdict::equal,
        fmt::format("{} | Runtime: {:.3f}s | Command: {}", verdict_word(verdict), total.seconds(), command));
  };
  if (words.runs_nothing()) {
    end(results::Verdict::equal);
    return kExitEqual;
  }
  if (words.request.backends.empty()) tasks::tell_unused_inputs(words.request.inputs, observer);
  tasks::RunOutcome outcome = tasks::run(words.request, observer);
  print_unused(outcome.unused_names, arguments, environment.log);
  results::RunReport& report = outcome.report;
  if (passes_without_verdict(report, words)) report.verdict = results::Verdict::equal;
  if (is_saved_only(report, words.request)) {
    report.verdict = results::Verdict::equal;
    environment.log.warning("the engine is saved, and was not run");
  }
  if (report.generation) tell_generation(report, words.request, arguments, environment.log);
  print_runs(report, words.request, environment.log);
  for (const results::PairComparison& pair : report.pairs) print_first_failure(pair, environment.log);
  print_answers(report, environment.log);
  if (const auto hint = tolerance_hint(report, arguments); !hint.empty()) environment.log.info(hint);
  print_precisions(report, arguments, environment.log);
  report.timings.emplace_back("total_seconds", total.seconds());
  const int status = finish(outcome, words, arguments, environment);
  end(report.verdict);
  return status;
}

std::vector<OptionGroup> groups() {
  std::vector<OptionGroup> all = {logging_group(), model_group(), onnx_load_group(), backend_group(true)};
  all[1].rows.push_back(opset_row());
  for (OptionGroup& group : backend_settings_groups()) all.push_back(std::move(group));
  for (OptionGroup& group :
       std::vector{shape_inference_group(), onnx_save_group(), output_group(), interface_group(), data_group(),
                   saved_data_group(), inference_group(), generation_group(), comparator_group(), functions_group(),
                   postprocess_group(), ranks_group(), limits_group(), json_group(), report_group(),
                   engine_weights_group(), calibration_group(), config_script_group(), engine_run_group()}) {
    all.push_back(std::move(group));
  }
  return all;
}

}  // namespace

Command command_run() {
  return {
      .path = "run",
      .summary = "run a model on one or more backends and compare the outputs",
      .description =
          "Runs a model, or an engine that `convert` built, on every backend that is named, in that order, on the same "
          "inputs, and compares the outputs of "
          "neighbouring runs; saved outputs are compared like further runs. Without a model, saved outputs are "
          "compared "
          "with each other. Several models, or those of a folder, are run one after the other, and the exit status is "
          "that of the worst; a YAML file is a pipeline of models that feed each other (docs/pipelines.md). Exit "
          "status: 0 everything agrees, 1 outputs differ, 2 wrong usage or input, 3 a backend "
          "failed or nothing could be compared.",
      .positionals = {models_positional(false)},
      .groups = groups(),
      .run = run_run,
      .examples =
          {"assay run model.onnx --onnxrt --openvino",
           "assay run model.onnx --onnxrt --ref-fp64 --onnx-outputs mark all --tolerance auto --report page.html",
           "assay run models/ --engine --onnxrt --junit verdicts.xml",
           "assay run decoder.onnx --onnxrt --engine --decode 64 --save-inputs step.npz",
           "assay run --load-outputs golden.json new.json --atol 1e-3"},
      .takes_models = true};
}

}  // namespace assay::cli
