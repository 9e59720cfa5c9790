#include "cli/bench/tuning.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_text.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/values.h"
#include "report/bench/text_tuning.h"

namespace assay::cli {
namespace {

constexpr std::string_view kExpression = "--tune-build-routes";
constexpr std::string_view kFile = "--tune-build-route-file";
constexpr std::string_view kCache = "--tuning-cache-file";
constexpr std::string_view kRoute = "--set-build-route";
constexpr std::string_view kHelp = "--help-build-route";

OptionRow flag(std::vector<std::string_view> names, std::string_view help) {
  return {.names = std::move(names), .arity = Arity::flag, .help = help};
}

tasks::Search search_named(const std::string& name) {
  if (name == "full") return tasks::Search::full;
  return name == "mixed" ? tasks::Search::mixed : tasks::Search::fast;
}

void print_knobs(const Arguments& arguments, Log& log) {
  const std::string wanted = arguments.value(kHelp);
  const std::vector<std::string> backends = chosen_backends(arguments);
  const std::string backend = backends.empty() ? "engine" : backends.front();
  for (const tasks::Knob& knob : tasks::knobs_of(backend)) {
    if (!wanted.empty() && wanted != knob.name) continue;
    log.result(fmt::format("-{}=[{}{}]: {}; default: {}", knob.name, join(knob.values, "|"), knob.is_open ? "|..." : "",
                           knob.help, knob.values.front()));
  }
  if (tasks::builds_foreign_engines(backend)) {
    log.result("-KNOB=[default|...]: choices of TensorRT's compiler, under its own names; default: left to it");
  }
}

std::string expression_of(const Arguments& arguments) {
  if (arguments.has(kExpression) && arguments.has(kFile))
    fail(ErrorCode::usage, "{} and {}: expected one of them", kExpression, kFile);
  if (arguments.has(kExpression)) return arguments.value(kExpression);
  std::string text = read_text(arguments.value(kFile));
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// Knobs with one value are not varied: they hold for all routes.
void take_fixed(tasks::TuneRequest& request) {
  for (const tasks::Knob& knob : request.knobs) {
    if (knob.values.size() == 1) tasks::apply_route({{knob.name, knob.values[0]}}, request.bench.session.settings);
  }
  std::erase_if(request.knobs, [](const tasks::Knob& knob) { return knob.values.size() == 1; });
}

}  // namespace

OptionGroup tuning_group() {
  return {
      .title = "Tuning",
      .description = "Choices that building an engine leaves open, tried beside the defaults",
      .rows = {
          {.names = {kExpression, "--tuneBuildRoutes"},
           .metavar = "KNOBS",
           .help = "the choices to vary, as `-tactics=[first|measured] -bf16=[off|on]`; with one value a "
                   "choice is fixed"},
          {.names = {kFile, "--tuneBuildRouteFile"},
           .metavar = "FILE",
           .help = "a file with such words",
           .is_file = true},
          {.names = {"--tuning-search", "--tuningSearch"},
           .choices = {"fast", "full", "mixed"},
           .default_value = "fast",
           .help = "one change at a time, all values together, or all values of those that were better alone"},
          {.names = {kCache, "--tuningCacheFile"},
           .metavar = "FILE",
           .default_value = "best_config.json",
           .help = "gets a line of JSON for each route",
           .is_file = true},
          {.names = {"--tuning-timeout", "--tuningTimeOut"},
           .metavar = "SECONDS",
           .default_value = "-1",
           .help = "end the search after so long; default: never"},
          flag({"--continue"}, "go on with the routes that the file of an earlier search lacks"),
          flag({"--save-all-engines", "--saveAllEngines"},
               "save the plan of each route beside that of --save-engine, as FILE.0, FILE.1 and so on"),
          flag({"--dry-run", "--dryRun"}, "list the routes, and try none"),
          {.names = {kRoute, "--setBuildRoute"}, .metavar = "KNOBS", .help = "build with these choices, as `-bf16=on`"},
          {.names = {kHelp, "--helpBuildRoute"},
           .arity = Arity::optional,
           .metavar = "KNOB",
           .help = "list the choices and their values"}}};
}

bool print_build_route_help(const Arguments& arguments, Log& log) {
  if (!arguments.has(kHelp)) return false;
  print_knobs(arguments, log);
  return true;
}

void read_build_route(const Arguments& arguments, tasks::BenchRequest& request) {
  if (!arguments.has(kRoute)) return;
  for (const tasks::Knob& knob : tasks::parse_knobs(arguments.value(kRoute), request.backend)) {
    if (knob.values.size() != 1) fail(ErrorCode::usage, "{}: knob `{}` must have one value", kRoute, knob.name);
    tasks::apply_route({{knob.name, knob.values[0]}}, request.session.settings);
  }
}

int print_tuning(const results::Tuning& tuning, Log& log) {
  for (const std::string& line : report::tuning_lines(tuning)) log.result(line);
  const bool was_tried = std::ranges::any_of(
      tuning.routes, [](const results::TunedRoute& route) { return !route.route.empty() && route.failure.empty(); });
  return was_tried ? kExitEqual : kExitUndecided;
}

std::optional<int> run_tuning(const tasks::BenchRequest& request, const Arguments& arguments, tasks::Observer& observer,
                              Environment& environment) {
  if (!arguments.has(kExpression) && !arguments.has(kFile)) return std::nullopt;
  if (!request.plan.empty()) fail(ErrorCode::usage, "a plan is built already: {} needs a model", kExpression);
  if (!request.rivals.empty()) fail(ErrorCode::usage, "{} and rivals: expected one of them", kExpression);
  tasks::TuneRequest tuned{.bench = request, .knobs = tasks::parse_knobs(expression_of(arguments), request.backend)};
  take_fixed(tuned);
  if (tuned.knobs.empty()) fail(ErrorCode::usage, "{}: no choice has several values", kExpression);
  tuned.search = search_named(arguments.value("--tuning-search"));
  tuned.cache = arguments.value(kCache);
  tuned.continues = arguments.flag("--continue");
  tuned.timeout_seconds = std::max(0.0, parse_number("--tuning-timeout", arguments.value("--tuning-timeout")));
  tuned.only_lists = arguments.flag("--dry-run");
  tuned.saves_all = arguments.flag("--save-all-engines");
  tuned.command = environment.command_line;
  const results::Tuning tuning = tasks::tune(tuned, observer);
  if (!tuned.only_lists) return print_tuning(tuning, environment.log);
  for (const results::TunedRoute& route : tuning.routes) environment.log.result(route.route);
  return kExitEqual;
}

}  // namespace assay::cli
