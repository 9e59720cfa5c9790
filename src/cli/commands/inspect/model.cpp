#include "cli/options/groups/model.h"

#include <algorithm>
#include <memory>

#include "analysis/cost.h"
#include "analysis/unbounded_sizes.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/shape_inference.h"
#include "inspect/model_listing.h"
#include "inspect/model_overview.h"
#include "ir/verify.h"
#include "onnx/text.h"
#include "report/json_model.h"
#include "report/text_model.h"

namespace assay::cli {
namespace {

bool shows(const Arguments& arguments, std::string_view what) {
  const std::vector<std::string> show = arguments.values("--show");
  return std::ranges::find(show, what) != show.end();
}

inspect::ListingOptions listing_options(const Arguments& arguments) {
  inspect::ListingOptions options;
  options.layers = shows(arguments, "layers");
  options.attributes = shows(arguments, "attrs");
  options.weights = shows(arguments, "weights");
  options.ops = arguments.values("--filter-op");
  options.names = arguments.values("--filter-name");
  const bool filters = !options.ops.empty() || !options.names.empty();
  if (filters) options.layers = true;
  return options;
}

results::ModelOverview overview_of(const tasks::LoadedModel& loaded, const std::string& path) {
  results::ModelOverview overview = inspect::model_overview(loaded.model);
  overview.path = path;
  overview.findings = loaded.findings.all();
  overview.findings_dropped = loaded.findings.dropped();
  return overview;
}

void print_text(const tasks::LoadedModel& loaded, const results::ModelOverview& overview,
                const inspect::ListingOptions& options, Environment& environment) {
  if (!environment.log.enabled(LogLevel::info)) return;
  report::TextModelListing listing({options.layers, options.attributes, options.weights});
  inspect::list_model(loaded.model, options, overview, listing);
  environment.log.info(listing.take_text());
}

// `[Variable (cast_out_6): (shape=[], dtype=int64)]`
std::string sizes_text(const ir::Model& model, const ops::Inference& inference) {
  std::string text;
  for (const ir::ValueId value : analysis::unbounded_sizes(model, inference)) {
    const ops::Type& type = inference.type(value);
    text += fmt::format("{}Variable ({}): (shape={}, dtype={})", text.empty() ? "" : ", ",
                        printable(model.text(model[value].name)), type.dims ? ops::text(*type.dims) : "None",
                        tensor::name(type.dtype));
  }
  return "[" + text + "]";
}

std::vector<std::string> unbounded_names(const ir::Model& model, const ops::Inference& inference) {
  std::vector<std::string> names;
  for (const ir::ValueId value : analysis::unbounded_sizes(model, inference)) {
    names.emplace_back(model.text(model[value].name));
  }
  return names;
}

// What the options ask of inference: types in the listing, costs, sizes that only data decides. None: nothing is asked.
std::unique_ptr<ops::Inference> infer(const Arguments& arguments, tasks::LoadedModel& loaded,
                                      Environment& environment) {
  const bool writes_types = arguments.flag("--shape-inference");
  if (!writes_types && !arguments.flag("--list-unbounded-dds") && !shows(arguments, "cost")) return nullptr;
  std::unique_ptr<ops::Inference> inference = tasks::infer_types(loaded);
  if (writes_types) tasks::write_types(*inference, loaded);
  if (arguments.flag("--list-unbounded-dds")) {
    environment.log.info(fmt::format("Found tensors with unbounded DDS: {}", sizes_text(loaded.model, *inference)));
  }
  return inference;
}

int run(const Arguments& arguments, Environment& environment) {
  refuse_absent_options(engine_view_group(), arguments);
  const std::string path = arguments.value("model_file");
  inspect::ListingOptions options = listing_options(arguments);
  tasks::LoadedModel loaded = load_model(path, arguments, environment);
  const std::unique_ptr<ops::Inference> inference = infer(arguments, loaded, environment);
  if (shows(arguments, "cost")) options.costs = inference.get();
  print_findings(loaded.findings, arguments, environment);
  if (shows(arguments, "text")) {
    environment.log.plain(onnx::to_text(loaded.model));
    return kExitEqual;
  }
  results::ModelOverview overview = overview_of(loaded, path);
  if (options.costs) overview.cost = analysis::model_cost(loaded.model, *options.costs);
  if (arguments.flag("--list-unbounded-dds")) overview.unbounded_sizes = unbounded_names(loaded.model, *inference);
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
                .choices = {"layers", "attrs", "weights", "cost", "text"},
                .help =
                    "what to list besides the summary: nodes, their attributes (with layers), the values of weights, "
                    "what a run costs in all and by node (with layers); `text` prints the model in ONNX's text syntax "
                    "instead"},
               {.names = {"--filter-op"},
                .arity = Arity::one_or_more,
                .metavar = "PATTERN",
                .help = "list only nodes whose operator matches one of these wildcards"},
               {.names = {"--filter-name"},
                .arity = Arity::one_or_more,
                .metavar = "PATTERN",
                .help = "list only nodes whose name matches one of these wildcards"},
               {.names = {"--shape-inference", "--do-shape-inference"},
                .arity = Arity::flag,
                .help = "infer types and shapes first and list them; what contradicts the model is a warning"},
               {.names = {"--list-unbounded-dds"},
                .arity = Arity::flag,
                .help = "list values that decide how large a result becomes and that nothing bounds before a run"}},
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
      .run = run,
      .examples = {"assay inspect model model.onnx --show layers attrs weights",
                   "assay inspect model model.onnx --filter-op 'Conv*' --json -"}};
}

}  // namespace assay::cli
