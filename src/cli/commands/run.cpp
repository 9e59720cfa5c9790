#include "cli/options/groups/run.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/onnx_save.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/run/job.h"
#include "cli/run/reports.h"
#include "cli/run/request.h"
#include "cli/run/status.h"
#include "cli/stopwatch.h"
#include "compare/runs/saved_metrics.h"
#include "formats/accuracy_results.h"
#include "report/json_run.h"
#include "report/text_comparison.h"

namespace assay::cli {
namespace {

void print(const results::RunReport& report, const RunRequest& request, Log& log) {
  for (const results::PairComparison& pair : report.pairs) report::print_comparison(pair, log);
  for (const results::PairAverages& averages : report.averages) report::print_averages(averages, log);
  if (request.validate) report::print_validation(report, log);
}

// The first value in the order of the graph that is beyond its tolerance: there, or just before, the error comes in.
const results::OutputComparison* find_first_failure(const results::PairComparison& pair,
                                                    const std::vector<std::string>& order) {
  for (const std::string& name : order) {
    for (const results::IterationComparison& iteration : pair.iterations) {
      const auto output = std::ranges::find(iteration.outputs, name, &results::OutputComparison::name_a);
      if (output != iteration.outputs.end() && !output->passed && output->metrics) return &*output;
    }
  }
  return nullptr;
}

void name_first_failure(results::PairComparison& pair, const std::vector<std::string>& order, Log& log) {
  const results::OutputComparison* const output = find_first_failure(pair, order);
  if (output == nullptr) return;
  pair.first_failed = output->name_a;
  log.verdict(false,
              fmt::format("{} vs. {} | First beyond tolerance in the order of the graph: `{}` (max abs {:.4g}, max rel "
                          "{:.4g})",
                          printable(pair.runner_a), printable(pair.runner_b), printable(output->name_a),
                          output->metrics->absolute.greatest, output->metrics->relative.greatest));
}

// A fixed tolerance says little about a model that nobody has chosen it for.
void print_hint(const results::RunReport& report, const Arguments& arguments, Log& log) {
  if (report.verdict != results::Verdict::different || report.model.empty() || report.model == "-") return;
  for (const std::string_view chosen : {"--atol", "--rtol", "--tolerance", "--compare-func", "--compare-func-script"}) {
    if (arguments.has(chosen)) return;
  }
  const auto is_failed = [](const results::OutputComparison& output) { return !output.passed && output.metrics; };
  bool is_by_value = false;
  for (const results::PairComparison& pair : report.pairs) {
    for (const results::IterationComparison& iteration : pair.iterations) {
      is_by_value = is_by_value || std::ranges::any_of(iteration.outputs, is_failed);
    }
  }
  if (!is_by_value || arguments.value("model_file").empty()) return;
  log.info("The tolerances are the default ones, 1e-05; `--tolerance auto` computes them from the model's arithmetic");
}

int run(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const RunRequest request = parse_run_request(arguments);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  RunOutcome outcome = run_job(request, arguments, environment);
  results::RunReport& report = outcome.report;
  print(report, request, environment.log);
  if (outcome.graph_order.size() > 1) {
    for (results::PairComparison& pair : report.pairs) {
      name_first_failure(pair, outcome.graph_order, environment.log);
    }
  }
  print_hint(report, arguments, environment.log);
  report.timings.emplace_back("total_seconds", total.seconds());
  if (!request.save_accuracy.empty()) {
    environment.log.info("Saving accuracy results to " + printable(request.save_accuracy));
    formats::save_accuracy_results(request.save_accuracy, compare::saved_metrics(report, request.compare));
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::run_json(report));
  write_reports(report, request, environment);
  if (outcome.save_failure) throw Error(*outcome.save_failure);
  const bool passed = report.verdict == results::Verdict::equal;
  environment.log.verdict(passed, fmt::format("{} | Runtime: {:.3f}s | Command: {}", verdict_word(report.verdict),
                                              total.seconds(), command));
  return status_of(report.verdict);
}

}  // namespace

Command command_run() {
  return {
      .path = "run",
      .summary = "run a model on one or more backends and compare the outputs",
      .description =
          "Runs a model on every backend that is named, in that order, on the same inputs, and compares the outputs of "
          "neighbouring runs; saved outputs are compared like further runs. Without a model, saved outputs are "
          "compared "
          "with each other. Exit status: 0 everything agrees, 1 outputs differ, 2 wrong usage or input, 3 a backend "
          "failed or nothing could be compared.",
      .positionals = {optional_model_positional()},
      .groups = {logging_group(), model_group(), onnx_load_group(), backend_group(), onnxrt_group(),
                 shape_inference_group(), onnx_save_group(), output_group(), data_group(), saved_data_group(),
                 inference_group(), comparator_group(), functions_group(), postprocess_group(), limits_group(),
                 json_group(), report_group(), engine_run_group()},
      .run = run,
      .examples = {
          "assay run model.onnx --onnxrt --openvino",
          "assay run model.onnx --onnxrt --ref-fp64 --onnx-outputs mark all --tolerance auto --report page.html",
          "assay run --load-outputs golden.json new.json --atol 1e-3"}};
}

}  // namespace assay::cli
