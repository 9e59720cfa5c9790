#include <limits>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/data_commands.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/values.h"
#include "report/inspect/text_data.h"
#include "report/json_reports.h"
#include "report/run/text_accuracy.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

// A number of at least 1; -1 stands for no limit.
int64_t limit(const Arguments& arguments, std::string_view option) {
  const int64_t value = parse_integer(option, arguments.value(option));
  if (value >= 1) return value;
  if (value == -1) return std::numeric_limits<int64_t>::max();
  fail(ErrorCode::usage, "option `{}`: expected -1 or a number of at least 1, got {}", option, value);
}

std::vector<double> percents(const Arguments& arguments) {
  std::vector<double> numbers;
  if (!arguments.has("--percentiles")) return numbers;
  const std::string text = arguments.value("--percentiles");
  for (const std::string_view part : split(text, ',')) {
    numbers.push_back(parse_number("--percentiles", part));
    if (!(numbers.back() >= 0 && numbers.back() <= 100)) {
      fail(ErrorCode::usage, "option `--percentiles`: expected numbers from 0 to 100, got `{}`", part);
    }
  }
  return numbers;
}

std::vector<inspect::TensorSlice> slices(const Arguments& arguments) {
  std::vector<inspect::TensorSlice> found;
  for (const std::string& text : arguments.values("--slice")) {
    const size_t at = text.rfind('=');
    const bool is_named = at != std::string::npos;
    const std::string slice = text.substr(is_named ? at + 1 : 0);
    found.push_back({is_named ? text.substr(0, at) : "*", slice, {}});
  }
  return found;
}

inspect::DataOptions data_options(const Arguments& arguments) {
  inspect::DataOptions options;
  options.all_iterations = arguments.flag("--all");
  options.values = arguments.flag("--show-values");
  options.histogram = arguments.flag("--histogram");
  options.text.edge_items = limit(arguments, "--num-items");
  options.text.line_width = static_cast<uint64_t>(limit(arguments, "--line-width"));
  options.tensors = arguments.values("--tensor");
  options.runners = arguments.values("--runner");
  options.slices = slices(arguments);
  options.percentiles = percents(arguments);
  return options;
}

// Saved comparison results, which hold metrics and no arrays.
void show(const results::AccuracyResults& saved, double load_seconds, const Arguments& arguments,
          Environment& environment) {
  environment.log.result(report::accuracy_text(saved, arguments.flag("--all")));
  if (!wants_json(arguments)) return;
  results::AccuracyListing listing{arguments.value("path"), {}, {{"load_seconds", load_seconds}}};
  for (const results::SavedComparison& comparison : saved) {
    for (const results::SavedPair& pair : comparison.pairs) listing.pairs.emplace_back(comparison.function, pair);
  }
  write_json(arguments, environment, report::report_json(listing));
}

void show(const results::DataListing& listing, const Arguments& arguments, Environment& environment) {
  environment.log.result(report::data_text(listing, arguments.flag("--histogram")));
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(listing));
}

int run_inspect_data(const Arguments& arguments, Environment& environment) {
  const tasks::InspectDataRequest request = {.path = arguments.value("path"), .options = data_options(arguments)};
  limit_data_memory(arguments);
  const Stopwatch loading;
  const auto found = tasks::inspect_data(request);
  if (const auto* saved = std::get_if<results::AccuracyResults>(&found)) {
    show(*saved, loading.seconds(), arguments, environment);
  } else {
    show(std::get<results::DataListing>(found), arguments, environment);
  }
  return kExitEqual;
}

OptionGroup show_group() {
  return {
      .title = "Listing",
      .description = "What is shown of the data",
      .rows =
          {
              {.names = {"-a", "--all"}, .arity = Arity::flag, .help = "show all iterations, not only the first one"},
              {.names = {"-s", "--show-values"}, .arity = Arity::flag, .help = "show the elements"},
              {.names = {"--histogram"}, .arity = Arity::flag, .help = "show a histogram of each array"},
              {.names = {"-n", "--num-items"},
               .metavar = "N",
               .default_value = "3",
               .help = "elements shown at each end of an axis of an array of more than 1000; -1: all"},
              {.names = {"--line-width"},
               .metavar = "N",
               .default_value = "75",
               .help = "characters on a line of elements; -1: no limit"},
              {.names = {"--tensor"},
               .repeat = Repeat::append,
               .metavar = "PATTERN",
               .help = "show the arrays that match; wildcards are allowed"},
              {.names = {"--runner"},
               .repeat = Repeat::append,
               .metavar = "PATTERN",
               .help = "show the runs of runners that match; wildcards are allowed"},
              {.names = {"--slice"},
               .repeat = Repeat::append,
               .metavar = "[PATTERN=]SLICE",
               .help = "describe only a part of the arrays, as `0,:,3:5`",
               .details = "For each axis an index or begin:end:step, as in Python, where the step is positive."},
              {.names = {"--percentiles"}, .metavar = "P,...", .help = "show these percentiles, as `0.1,50,99.9`"},
          },
      .spellings = {{.option = "--statistics", .reason = "the default listing has them"}}};
}

}  // namespace

Command command_inspect_data() {
  return {
      .path = "inspect data",
      .summary = "show what is in a file of inputs or outputs",
      .description =
          "Reads inputs or outputs as `run` saves them, and other files of tensors: JSON, .npz, .npy, .safetensors, a "
          "folder with one JSON file per iteration, a .raw folder. Shows type, shape and statistics of each array. Of "
          "results that `run --save-accuracy-results` saved, it shows metrics and verdicts.",
      .positionals = {{.names = {"path"}, .help = "file or folder of inputs or outputs", .is_file = true}},
      .groups = {logging_group(), show_group(), json_group(), data_limits_group()},
      .run = run_inspect_data,
      .examples = {"assay inspect data outputs.json --show-values"}};
}

}  // namespace assay::cli
