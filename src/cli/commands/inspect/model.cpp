#include "cli/options/groups/model.h"

#include <algorithm>

#include "base/error.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "inspect/model_listing.h"
#include "inspect/model_overview.h"
#include "onnx/text.h"
#include "report/json_model.h"
#include "report/text_model.h"

namespace assay::cli {
namespace {

inspect::ListingOptions listing_options(const Arguments& arguments) {
  const std::vector<std::string> show = arguments.values("--show");
  const auto shows = [&](std::string_view what) { return std::ranges::find(show, what) != show.end(); };
  inspect::ListingOptions options;
  options.layers = shows("layers");
  options.attributes = shows("attrs");
  options.weights = shows("weights");
  options.ops = arguments.values("--filter-op");
  options.names = arguments.values("--filter-name");
  const bool filters = !options.ops.empty() || !options.names.empty();
  if (filters) options.layers = true;
  return options;
}

results::ModelOverview overview_of(const LoadedModel& loaded, const std::string& path) {
  results::ModelOverview overview = inspect::model_overview(loaded.model);
  overview.path = path;
  overview.findings = loaded.findings.all();
  overview.findings_dropped = loaded.findings.dropped();
  return overview;
}

void print_text(const LoadedModel& loaded, const results::ModelOverview& overview,
                const inspect::ListingOptions& options, Environment& environment) {
  if (!environment.log.enabled(LogLevel::info)) return;
  report::TextModelListing listing({options.layers, options.attributes, options.weights});
  inspect::list_model(loaded.model, options, overview, listing);
  environment.log.info(listing.take_text());
}

int run(const Arguments& arguments, Environment& environment) {
  refuse_engine_options(arguments);
  const std::string path = arguments.value("model_file");
  const inspect::ListingOptions options = listing_options(arguments);
  const LoadedModel loaded = load_model(path, arguments, environment);
  print_findings(loaded.findings, environment);
  const std::vector<std::string> show = arguments.values("--show");
  if (std::ranges::find(show, "text") != show.end()) {
    environment.log.info(onnx::to_text(loaded.model));
    return kExitEqual;
  }
  const results::ModelOverview overview = overview_of(loaded, path);
  if (!json_on_stdout(arguments)) print_text(loaded, overview, options, environment);
  if (wants_json(arguments)) {
    report::JsonModelListing listing(options.layers, options.weights);
    inspect::list_model(loaded.model, options, overview, listing);
    write_json(arguments, environment, listing.take_text({{"load_seconds", loaded.load_seconds}}));
  }
  return kExitEqual;
}

OptionGroup listing_group() {
  return {
      .title = "Listing",
      .description = "What is shown",
      .rows = {{.names = {"--show"},
                .arity = Arity::one_or_more,
                .repeat = Repeat::append,
                .choices = {"layers", "attrs", "weights", "text"},
                .help =
                    "what to list besides the summary: nodes, their attributes (with layers), the values of weights; "
                    "`text` prints the model in ONNX's text syntax instead"},
               {.names = {"--filter-op"},
                .arity = Arity::one_or_more,
                .metavar = "PATTERN",
                .help = "list only nodes whose operator matches one of these wildcards"},
               {.names = {"--filter-name"},
                .arity = Arity::one_or_more,
                .metavar = "PATTERN",
                .help = "list only nodes whose name matches one of these wildcards"}},
      .spellings = {{.option = "--mode", .value = "full", .words = {"--show", "layers", "attrs", "weights"}},
                    {.option = "--mode", .value = "attr*", .words = {"--show", "layers", "attrs"}},
                    {.option = "--mode", .value = "layers", .words = {"--show", "layers"}},
                    {.option = "--mode", .value = "basic", .reason = "it is the default listing"},
                    {.option = "--mode", .value = "none", .reason = "it is the default listing"},
                    {.option = "--show-weights", .words = {"--show", "weights"}}},
  };
}

}  // namespace

Command command_inspect_model() {
  return {
      .path = "inspect model",
      .summary = "list a model's inputs, outputs, nodes, attributes and weights",
      .description =
          "Shows what is in a model without running it. Weights are not read unless they are shown. A "
          "model that is wrong as a graph is listed too, with what is wrong as warnings.",
      .positionals = {model_positional()},
      .groups = {logging_group(), model_group(), onnx_load_group(), listing_group(), json_group(), engine_view_group()},
      .run = run};
}

}  // namespace assay::cli
