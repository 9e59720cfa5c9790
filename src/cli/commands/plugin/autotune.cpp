#include <limits>

#include "base/error.h"
#include "cli/bench/tuning.h"
#include "cli/log_observer.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/data.h"
#include "cli/options/groups/input_data.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/plugins.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/values.h"
#include "tasks/plugin_tune.h"

namespace assay::cli {
namespace {

constexpr std::string_view kConfig = "--config";
constexpr std::string_view kKnobs = "--tune-build-routes";

OptionRow number(std::vector<std::string_view> names, std::string_view metavar, std::string_view otherwise,
                 std::string_view help) {
  return {.names = std::move(names), .metavar = metavar, .default_value = otherwise, .help = help};
}

OptionGroup places_group() {
  OptionGroup group = plugin_group();
  group.rows.front().required = false;
  group.rows.push_back({.names = {kConfig},
                        .metavar = "FILE",
                        .help = "what plugin match wrote, in place of a search (--plugin-dir)",
                        .is_file = true});
  return group;
}

OptionGroup search_group() {
  return {
      .title = "Search",
      .description = "What is tried, for how long, and what counts as equal",
      .rows = {{.names = {"--search", "--strategy"},
                .choices = {"greedy", "exhaustive"},
                .default_value = "greedy",
                .help = "keep the best single change while there is one, or try all together"},
               {.names = {kKnobs, "--tuneBuildRoutes"},
                .metavar = "KNOBS",
                .help = "choices of the engine to vary beside the replacements, as `-tactics=[first|measured]`; "
                        "`assay bench --help-build-route` lists them"},
               number({"--duration"}, "SECONDS", "0.5", "measure each for so long, in turns with the model as it is"),
               number({"--iterations"}, "N", "10", "and so many runs at least"),
               number({"--warm-up"}, "MS", "50", "run for so long before"),
               {.names = {"--accuracy-algorithm"},
                .choices = tasks::loss_names(),
                .default_value = "cos",
                .help = "the distance of an output from the reference's, as in bench"},
               number({"--accuracy-threshold"}, "LOSS", "1e-4", "from this distance on a change is not taken"),
               {.names = {"--tuning-cache-file"},
                .metavar = "FILE",
                .help = "gets a line of JSON for each that was tried",
                .is_file = true},
               {.names = {"--continue"}, .arity = Arity::flag, .help = "go on with those that this file lacks"},
               number({"--tuning-timeout"}, "SECONDS", "-1", "end the search after so long; default: never"),
               {.names = {"-o", "--output"},
                .metavar = "FILE",
                .help = "write the model with the replacements of the best",
                .is_file = true,
                .is_output = true}}};
}

tasks::TuneRequest tune_request(const Arguments& arguments) {
  tasks::TuneRequest tune;
  tune.bench.model = model_source(arguments.value("model_file"), arguments);
  tune.bench.inputs = input_request(arguments);
  tune.bench.inputs.iterations = 1;
  tune.bench.session.search = library_search(arguments);
  tune.bench.duration_seconds = parse_number("--duration", arguments.value("--duration"));
  tune.bench.iterations = parse_count("--iterations", arguments.value("--iterations"), 1);
  tune.bench.warm_up_seconds = parse_number("--warm-up", arguments.value("--warm-up")) / 1e3;
  tasks::ReferenceCheck check;
  check.loss = arguments.value("--accuracy-algorithm");
  check.threshold = parse_number("--accuracy-threshold", arguments.value("--accuracy-threshold"));
  tune.bench.references = check;
  tune.judges_by_reference = true;
  if (arguments.has(kKnobs)) tune.knobs = tasks::parse_knobs(arguments.value(kKnobs), tune.bench.backend);
  const bool is_greedy = arguments.value("--search") == "greedy";
  tune.search = is_greedy ? tasks::Search::greedy : tasks::Search::full;
  tune.cache = arguments.value("--tuning-cache-file");
  tune.continues = arguments.flag("--continue");
  if (tune.continues && tune.cache.empty()) fail(ErrorCode::usage, "--continue needs --tuning-cache-file");
  tune.timeout_seconds = std::max(0.0, parse_number("--tuning-timeout", arguments.value("--tuning-timeout")));
  return tune;
}

int run_plugin_autotune(const Arguments& arguments, Environment& environment) {
  if (arguments.has(kConfig) == arguments.has("--plugin-dir"))
    fail(ErrorCode::usage, "expected either --plugin-dir or {}", kConfig);
  tasks::AutotuneRequest request{.tune = tune_request(arguments), .plugins = {}, .config = arguments.value(kConfig)};
  if (!arguments.has(kConfig)) request.plugins = plugin_search(arguments);
  request.tune.command = environment.command_line;
  request.infers = arguments.flag("--shape-inference");
  request.output = arguments.value("--output");
  LogObserver observer(arguments, environment);
  return print_tuning(tasks::autotune_plugins(std::move(request), observer), environment.log);
}

}  // namespace

Command command_plugin_autotune() {
  OptionGroup data = data_group();
  for (OptionRow& row : saved_input_rows()) data.rows.push_back(std::move(row));
  return {.path = "plugin autotune",
          .summary = "find the plugin replacements and choices of the engine that are fastest and still accurate",
          .description =
              "Finds the places of plugins in a model, and tries replacing each of them, and choices of the engine, "
              "by measuring each change in turns with the model as it is. A change counts where it is faster beyond "
              "the interval of 95% of its ratio and its outputs stay as near to the reference's as asked for. What "
              "the engine cannot run with is named. Exit status: 0 a search was made, whatever it found, 2 wrong usage "
              "or input, 3 nothing could be tried.",
          .positionals = {model_positional()},
          .groups = {logging_group(), model_group(), onnx_load_group(), places_group(), search_group(), std::move(data),
                     shape_inference_group()},
          .run = run_plugin_autotune,
          .examples = {"assay plugin autotune model.onnx --plugin-dir plugins -o tuned.onnx",
                       "assay plugin autotune model.onnx --config config.yaml --search exhaustive "
                       "--tune-build-routes='-tactics=[first|measured]'"}};
}

}  // namespace assay::cli
