#include <map>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/remedies.h"
#include "cli/peer.h"
#include "report/check/junit_lint.h"
#include "report/check/lint_as_there.h"
#include "report/json_reports.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

using results::LintLevel;

LogLevel log_level(LintLevel level) {
  if (level == LintLevel::exception) return LogLevel::error;
  return level == LintLevel::warning ? LogLevel::warning : LogLevel::info;
}

void print_entry(const results::LintEntry& entry, const Arguments& arguments, Log& log) {
  const std::string where =
      entry.node.empty() ? "" : fmt::format("Name: {}, Op: {} | ", printable(entry.node), printable(entry.op));
  log.write(log_level(entry.level),
            fmt::format("LINT | {}{}{}", where, printable(entry.message), remedy_text(entry.remedy, arguments)));
}

// Prints the findings; without -v only the first ones of each kind.
void print_lint(const results::LintReport& report, const Arguments& arguments, Log& log) {
  constexpr size_t kMany = 10;
  constexpr size_t kShown = 3;
  std::map<std::pair<LintLevel, std::string>, size_t> of_kind;
  for (const results::LintEntry& entry : report.entries) ++of_kind[{entry.level, entry.code}];
  std::map<std::pair<LintLevel, std::string>, size_t> seen;
  for (const results::LintEntry& entry : report.entries) {
    const size_t all = of_kind[{entry.level, entry.code}];
    const size_t number = ++seen[{entry.level, entry.code}];
    if (all <= kMany || number <= kShown || log.enabled(LogLevel::verbose)) print_entry(entry, arguments, log);
    if (all > kMany && number == kShown && !log.enabled(LogLevel::verbose)) {
      log.write(log_level(entry.level),
                fmt::format("LINT | {} more findings of the kind `{}` (-v shows all)", all - kShown, entry.code));
    }
  }
}

bool has_level(const results::LintReport& report, LintLevel level) {
  return std::ranges::any_of(report.entries, [&](const results::LintEntry& entry) { return entry.level == level; });
}

tasks::LintRequest lint_request(const Arguments& arguments, bool as_peer) {
  const exec::SessionOptions limits = session_options(arguments);
  check_input_data(arguments);
  return {.model = model_source(arguments.value("model_file"), arguments),
          .is_static = arguments.flag("--static"),
          .inputs = input_request(arguments),
          .max_memory_bytes = limits.max_memory_bytes,
          .max_steps = limits.max_steps,
          .max_work = limits.max_work,
          .threads = limits.threads,
          .told_by = as_peer ? "onnxrt" : "",
          .search = limits.search};
}

// A file that is no model is a finding, too.
results::LintReport lint_as_peer(const tasks::LintRequest& request, tasks::Observer& observer) {
  results::LintReport report;
  try {
    report = tasks::lint(request, observer);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) throw;
    const bool is_message = error.message().find("opset_import") != std::string::npos;
    report.path = request.model.path;
    report.entries.push_back({.level = LintLevel::exception,
                              .source = is_message ? "onnx_checker" : "onnx_loader",
                              .code = "unreadable",
                              .message = error.message(),
                              .node = {},
                              .op = {}});
  }
  report::tell_as_there(report);
  return report;
}

int run_check_lint(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  const bool as_peer = is_called_as_peer(environment);
  const tasks::LintRequest request = lint_request(arguments, as_peer);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  LogObserver observer(arguments, environment);
  const results::LintReport report = as_peer ? lint_as_peer(request, observer) : tasks::lint(request, observer);
  print_lint(report, arguments, environment.log);
  if (arguments.has("--output")) {
    OutputFile file(arguments.value("--output"));
    file.write(report::report_json(report, !as_peer));
    file.commit();
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(report, !as_peer));
  if (arguments.has("--junit")) {
    write_junit(arguments, environment, report::junit_suite(report, arguments.flag("--strict")));
  }
  const bool fails =
      has_level(report, LintLevel::exception) || (arguments.flag("--strict") && has_level(report, LintLevel::warning));
  const std::string line = fmt::format("Runtime: {:.3f}s | Command: {}", total.seconds(), command);
  if (fails) {
    environment.log.error(fmt::format("FAILED | {}", line));
  } else {
    environment.log.finish(fmt::format("PASSED | {}", line));
  }
  return fails ? kExitDifferent : kExitEqual;
}

OptionGroup lint_group() {
  return {.title = "Lint",
          .description = "What is checked and what counts",
          .rows = {{.names = {"--output", "-o"},
                    .metavar = "FILE",
                    .help = "write the report, as JSON, to this file",
                    .is_file = true,
                    .is_output = true},
                   {.names = {"--junit"},
                    .metavar = "FILE",
                    .help = "write the findings as JUnit XML, a suite for each model",
                    .is_file = true,
                    .is_output = true},
                   {.names = {"--strict"}, .arity = Arity::flag, .help = "warnings, too, make the exit status 1"},
                   {.names = {"--static"}, .arity = Arity::flag, .help = "do not run the model, only look at it"},
                   {.names = {"--providers", "--execution-providers"},
                    .arity = Arity::one_or_more,
                    .help = "accepted, without effect: the model runs on the reference",
                    .hidden = true},
                   {.names = {"--graph-optimization-level"},
                    .help = "accepted, without effect: the model runs on the reference",
                    .hidden = true}}};
}

}  // namespace

Command command_check_lint() {
  return {.path = "check lint",
          .summary = "find everything that is wrong with a model, in one go",
          .description =
              "Checks structure, operators, attributes, types and shapes, looks at weights and constants, and runs the "
              "model on the reference interpreter. Findings are independent of each other: after a node that fails, "
              "checking goes on where possible. Exit status: 0 clean or warnings only, 1 findings of level exception, "
              "2 the file cannot be read; of several models, or those of a folder, that of the worst.",
          .positionals = {models_positional(true)},
          .groups = {logging_group(), model_group(), onnx_load_group(), lint_group(),
                     input_data_group({"--input-shapes", "--inputs"}, true), limits_group(), json_group()},
          .run = run_check_lint,
          .examples = {"assay check lint model.onnx", "assay check lint model.onnx --static --strict -o report.json",
                       "assay check lint models/ --junit lint.xml"},
          .takes_models = true};
}

}  // namespace assay::cli
