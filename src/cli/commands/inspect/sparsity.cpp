#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "report/inspect/text_sparsity.h"
#include "report/json_reports.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

void print_sparsity(const results::SparsityReport& report, Log& log) {
  for (const results::SkippedWeight& skipped : report.skipped) {
    log.write(skipped.worth_a_warning ? LogLevel::warning : LogLevel::verbose, report::skipped_line(skipped));
  }
  log.result(fmt::format("Found: {} weight tensor(s) eligible for pruning.", report.weights.size()));
  log.start(fmt::format("Checking the sparsity pattern of {} tensors.", report.weights.size()));
  for (const results::WeightSparsity& weight : report.weights) {
    log.report(LogLevel::verbose, report::sparsity_details(weight));
    log.write(weight.sparse ? LogLevel::info : LogLevel::warning, report::sparsity_line(weight));
  }
  log.finish(fmt::format("Finished checking {} tensors.", report.weights.size()));
}

int run_inspect_sparsity(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::SparsityReport report =
      tasks::inspect_sparsity(model_source(arguments.value("model_file"), arguments), observer);
  print_sparsity(report, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report));
  environment.log.finish(fmt::format("PASSED | Runtime: {:.3f}s | Command: {}", total.seconds(), command));
  return kExitEqual;
}

}  // namespace

Command command_inspect_sparsity() {
  return {.path = "inspect sparsity",
          .summary = "report which weights are 2:4 structured sparse",
          .description =
              "Looks at the weights of Conv, ConvTranspose, MatMul and Gemm along the axis that is summed over. A "
              "weight is 2:4 sparse if at least 2 of every 4 consecutive elements are zero. Weights are also found "
              "through QuantizeLinear, DequantizeLinear, Cast, Identity and Transpose; quantised zeros are the zero "
              "points. -v reports how sparse each weight is. Exit status: 0, whatever is found.",
          .positionals = {model_positional()},
          .groups = {logging_group(), model_group(), onnx_load_group(), json_group()},
          .run = run_inspect_sparsity,
          .examples = {"assay inspect sparsity model.onnx"}};
}

}  // namespace assay::cli
