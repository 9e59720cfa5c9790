#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/values.h"
#include "cli/run/data_diff.h"
#include "report/inspect/text_diff.h"
#include "report/json_reports.h"
#include "tasks/data.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

tasks::DiffRequest diff_request(const Arguments& arguments) {
  return {.a = model_source(arguments.value("model_a"), arguments),
          .b = model_source(arguments.value("model_b"), arguments),
          .rtol = parse_tolerance("--rtol", arguments.value("--rtol")),
          .atol = parse_tolerance("--atol", arguments.value("--atol")),
          .ignore_names = arguments.flag("--ignore-names")};
}

void print_diff(const results::ModelDiff& diff, Environment& environment) {
  const std::string text = report::diff_text(diff);
  if (!text.empty()) environment.log.result(text);
  if (!diff.weights.unread.empty()) {
    environment.log.warning(fmt::format("{} weight(s) were not read; they were compared by type and shape only",
                                        diff.weights.unread.size()));
  }
  environment.log.result(report::diff_verdict(diff));
}

int run_inspect_diff(const Arguments& arguments, Environment& environment) {
  const tasks::DiffRequest request = diff_request(arguments);
  const std::string& a = request.a.path;
  const std::string& b = request.b.path;
  if (a == "-" && b == "-") fail(ErrorCode::usage, "only one of the two models may come from standard input");
  environment.log.info(printable(fmt::format("Comparing: {} | {}", a, b)));
  if (tasks::is_data(a) && tasks::is_data(b)) return diff_data(a, b, arguments, environment);
  LogObserver observer(arguments, environment);
  const results::ModelDiff diff = tasks::diff_models(request, observer);
  if (!json_on_stdout(arguments)) print_diff(diff, environment);
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(diff));
  return diff.equal ? kExitEqual : kExitDifferent;
}

OptionRow model_row(std::string_view name, std::string_view help) {
  OptionRow row = model_positional();
  row.names = {name};
  row.help = help;
  return row;
}

OptionGroup comparison_group() {
  return {
      .title = "Comparison",
      .description = "What counts as a difference",
      .rows =
          {{.names = {"--rtol"},
            .metavar = "NUMBER",
            .default_value = "0",
            .help = "relative tolerance for weights: elements are equal where |a-b| <= atol + rtol*|b|"},
           {.names = {"--atol"}, .metavar = "NUMBER", .default_value = "0", .help = "absolute tolerance for weights"},
           {.names = {"--ignore-names"},
            .arity = Arity::flag,
            .help = "names of nodes, tensors, symbolic dims and the graph make no difference"}},
  };
}

}  // namespace

Command command_inspect_diff() {
  return {
      .path = "inspect diff",
      .summary = "show in what two models, or two files of tensors, differ",
      .description =
          "Two files of saved inputs or outputs are compared run by run, iteration by iteration. Of models, it "
          "compares header, inputs, outputs, nodes, attributes and weights. Nodes are matched by what they compute, so "
          "that renamed and reordered nodes are recognised.\n\nExit status: 0 equal, 1 different, 2 unreadable. Names "
          "make a difference unless they are ignored. Not counted as differences: another order of nodes, types of "
          "intermediate tensors that only one model states, and weights left unread by --ignore-external-data.",
      .positionals = {model_row("model_a", "the first model: an ONNX file, ONNX text (.onnxtxt), or `-`"),
                      model_row("model_b", "the second model, to which relative differences refer")},
      .groups = {logging_group(), model_group(), onnx_load_group(), comparison_group(), json_group()},
      .run = run_inspect_diff,
      .examples = {"assay inspect diff before.onnx after.onnx", "assay inspect diff old.npz new.npz --atol 1e-5"}};
}

}  // namespace assay::cli
