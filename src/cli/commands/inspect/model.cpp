#include "cli/options/groups/model.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/engine.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/values.h"
#include "cli/peer.h"
#include "cli/view/show.h"
#include "report/inspect/json_model.h"
#include "report/inspect/tensorflow.h"
#include "report/inspect/text_engine.h"
#include "report/inspect/text_model.h"
#include "report/json_reports.h"
#include "tasks/inspect.h"

namespace assay::cli {
namespace {

bool shows(const Arguments& arguments, std::string_view what) {
  const std::vector<std::string> show = arguments.values("--show");
  return std::ranges::find(show, what) != show.end();
}

// The shapes of inputs for which memory is told.
std::vector<exec::InputShape> memory_shapes(const Arguments& arguments) {
  for (const std::string_view option : {"--input-shapes", "--measure", "--fits"}) {
    if (arguments.has(option) && !arguments.flag("--memory")) fail(ErrorCode::usage, "{} needs --memory", option);
  }
  std::vector<exec::InputShape> shapes;
  for (const std::string& text : arguments.values("--input-shapes"))
    shapes.push_back(parse_input_shape("--input-shapes", text));
  return shapes;
}

// The status of a model that has to fit into so much memory.
int fitting_status(const tasks::InspectedModel& model, const Arguments& arguments, Log& log) {
  if (!arguments.has("--fits")) return kExitEqual;
  const uint64_t room = parse_size("--fits", arguments.value("--fits"));
  const std::optional<uint64_t>& total = model.memory()->total_bytes;
  if (!total) throw Error(ErrorCode::usage, "--fits: dims of inputs are open").remedied_by("input_shapes");
  const bool fits = *total <= room;
  log.verdict(fits, fmt::format("{}: {} of {} bytes", fits ? "It fits" : "It does not fit", *total, room));
  return fits ? kExitEqual : kExitDifferent;
}

tasks::InspectRequest inspect_request(const Arguments& arguments) {
  return {.model = model_source(arguments.value("model_file"), arguments),
          .layers = shows(arguments, "layers"),
          .attributes = shows(arguments, "attrs"),
          .weights = shows(arguments, "weights"),
          .costs = shows(arguments, "cost"),
          .memory = arguments.flag("--memory"),
          .measures_memory = arguments.flag("--measure"),
          .shapes = memory_shapes(arguments),
          .infers = arguments.flag("--shape-inference"),
          .finds_unbounded = arguments.flag("--list-unbounded-dds"),
          .ops = arguments.values("--filter-op"),
          .names = arguments.values("--filter-name")};
}

bool lists_nodes(const tasks::InspectRequest& request) {
  return request.layers || !request.ops.empty() || !request.names.empty();
}

void print_text(const tasks::InspectedModel& model, const tasks::InspectRequest& request, Environment& environment) {
  report::TextModelListing listing({.layers = lists_nodes(request),
                                    .attributes = request.attributes,
                                    .weights = request.weights,
                                    .is_as_there = is_called_as_peer(environment)});
  model.list(listing);
  for (const std::string& reason : listing.unread()) {
    environment.log.error("Failed to load weights.\nNote: Error was: " + reason);
  }
  environment.log.result(listing.take_text());
}

// `[Variable (cast_out_6): (shape=[], dtype=int64)]`
std::string sizes_text(const std::vector<tasks::UnboundedSize>& sizes) {
  std::string text;
  for (const tasks::UnboundedSize& size : sizes) {
    text += fmt::format("{}Variable ({}): (shape={}, dtype={})", text.empty() ? "" : ", ", printable(size.name),
                        size.shape.value_or("None"), size.dtype);
  }
  return "[" + text + "]";
}

// Options that would be lost without a word.
void refuse_onnx_options(const Arguments& arguments) {
  for (const std::string_view name : {"--filter-op", "--filter-name", "--shape-inference", "--list-unbounded-dds"}) {
    if (arguments.has(name)) fail(ErrorCode::usage, "`{}` is about ONNX models, and an engine is given", name);
  }
  for (const std::string_view what : {"weights", "cost", "text"}) {
    if (shows(arguments, what) && !(what == "weights" && shows(arguments, "layers"))) {
      fail(ErrorCode::usage, "`--show {}` is about ONNX models, and an engine is given", what);
    }
  }
}

results::EngineListing engine_listing(const tasks::ModelSource& model, const Arguments& arguments,
                                      tasks::Observer& observer) {
  const exec::SessionOptions library = library_options(arguments);
  const bool asks_library = arguments.flag("--tensorrt");
  if (tasks::is_foreign_engine(model)) {
    return tasks::inspect_foreign_engine(model, asks_library ? &library : nullptr, observer);
  }
  if (tasks::is_engine_file(model)) {
    if (asks_library) fail(ErrorCode::unsupported, "`{}` is an engine, but none of TensorRT", printable(model.path));
    return tasks::inspect_engine({model.path, arguments.value("--combine-tensor-info")}, observer);
  }
  return asks_library ? tasks::inspect_foreign_network(model, library, observer)
                      : tasks::inspect_network(model, observer);
}

// An engine, or the layers that it would have.
int show_engine(const tasks::ModelSource& model, const Arguments& arguments, Environment& environment) {
  if (!is_called_as_peer(environment)) refuse_onnx_options(arguments);
  LogObserver observer(arguments, environment);
  const results::EngineListing listing = engine_listing(model, arguments, observer);
  if (!json_on_stdout(arguments)) {
    environment.log.result(report::engine_text(listing, {.layers = shows(arguments, "layers"),
                                                         .attributes = shows(arguments, "attrs"),
                                                         .is_as_there = is_called_as_peer(environment)}));
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(listing));
  return kExitEqual;
}

// The model as a page, as the peer shows it.
int show_page(const tasks::ModelSource& model, const Arguments& arguments, Environment& environment) {
  tasks::ViewRequest request;
  request.model = model;
  if (arguments.has("--combine-tensor-info")) request.with = {arguments.value("--combine-tensor-info")};
  const ViewPlace place = {.output = arguments.has("--save-visual") ? arguments.value("--save-visual") : "",
                           .port = parse_port("--visual-port", arguments.value("--visual-port"))};
  show_view(request, place, arguments, environment);
  return kExitEqual;
}

bool is_named(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() ||
         std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches_glob(pattern, name); });
}

int show_tensorflow(const tasks::InspectRequest& request, const Arguments& arguments, Environment& environment) {
  for (const std::string_view name : {"--shape-inference", "--list-unbounded-dds", "--tensorrt"}) {
    if (arguments.has(name)) fail(ErrorCode::unsupported, "`{}` does not know TensorFlow models", name);
  }
  LogObserver observer(arguments, environment);
  const results::TensorFlowListing listing = tasks::inspect_tensorflow(request.model.path, observer);
  const report::TensorFlowOptions options = {.layers = lists_nodes(request),
                                             .weights = request.weights,
                                             .is_listed = [&](const results::TensorFlowNode& node) {
                                               return is_named(request.ops, node.op) &&
                                                      is_named(request.names, node.name);
                                             }};
  if (!json_on_stdout(arguments)) environment.log.result(report::tensorflow_text(listing, options));
  if (wants_json(arguments)) write_json(arguments, environment, report::tensorflow_json(listing, options));
  return kExitEqual;
}

int run_inspect_model(const Arguments& arguments, Environment& environment) {
  refuse_absent_options(engine_view_group(), arguments);
  const tasks::InspectRequest request = inspect_request(arguments);
  if (arguments.flag("--visual") || arguments.has("--save-visual")) {
    return show_page(request.model, arguments, environment);
  }
  if (tasks::is_tensorflow_model(request.model) && !arguments.has("--convert-to")) {
    return show_tensorflow(request, arguments, environment);
  }
  const bool is_engine = tasks::is_engine_file(request.model);
  if (!is_engine && arguments.has("--combine-tensor-info")) {
    fail(ErrorCode::usage, "`--combine-tensor-info` is about engines");
  }
  const bool shows_engine = is_engine || arguments.has("--convert-to") || tasks::is_foreign_engine(request.model);
  if (!shows_engine && arguments.flag("--tensorrt")) {
    fail(ErrorCode::usage, "--tensorrt shows engines, and with --convert-to trt what TensorRT makes of a model");
  }
  if (shows_engine) return show_engine(request.model, arguments, environment);
  LogObserver observer(arguments, environment);
  const tasks::InspectedModel model(request, observer);
  if (request.infers) tell_inference_as_there(arguments, environment);
  if (request.finds_unbounded) {
    environment.log.result("Found tensors with unbounded DDS: " + sizes_text(model.unbounded_sizes()));
  }
  if (shows(arguments, "text")) {
    environment.log.plain(model.text());
    return kExitEqual;
  }
  if (!json_on_stdout(arguments)) print_text(model, request, environment);
  if (wants_json(arguments)) {
    report::JsonModelListing listing(lists_nodes(request), request.weights);
    model.list(listing);
    write_json(arguments, environment, listing.take_text({{"load_seconds", model.load_seconds()}}));
  }
  return fitting_status(model, arguments, environment.log);
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
                .help = "list only nodes whose operator matches one of these wildcards, and the weights they read"},
               {.names = {"--filter-name"},
                .arity = Arity::one_or_more,
                .metavar = "PATTERN",
                .help = "list only nodes whose name matches one of these wildcards, and the weights they read"},
               {.names = {"--shape-inference", "--do-shape-inference"},
                .arity = Arity::flag,
                .help = "infer types and shapes first and list them; what contradicts the model is a warning"},
               no_onnxruntime_row(),
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

OptionGroup memory_group() {
  return {.title = "Memory",
          .description = "Whether a model fits (docs/memory.md)",
          .rows = {{.names = {"--memory"},
                    .arity = Arity::flag,
                    .help = "tell the memory of a run: weights, caches, and the most that values take at a time, as "
                            "formulas in the names of dims"},
                   {.names = {"--input-shapes", "--inputs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME:[DIM,...]",
                    .help = "with --memory: shapes for which it is told in bytes; names may be wildcards"},
                   {.names = {"--measure"},
                    .arity = Arity::flag,
                    .help = "with --memory: build the engine for these shapes, and tell what it takes"},
                   {.names = {"--fits"},
                    .metavar = "SIZE",
                    .help = "with --memory: exit with 1 if weights, inputs and values take more than this, as 8G"}}};
}

OptionGroup page_group() {
  return {.title = "Page",
          .description = "The model as a page, as `view` shows it, in place of a listing",
          .rows = {{.names = {"--visual"},
                    .arity = Arity::flag,
                    .help = "show the model as a graph in the browser; the command ends when the page is closed"},
                   {.names = {"--visual-port"},
                    .metavar = "N",
                    .default_value = "0",
                    .help = "port of the page on 127.0.0.1; 0: any that is free"},
                   {.names = {"--save-visual"},
                    .metavar = "FILE",
                    .help = "write the page to one .html file that works offline, or its picture to .svg, and serve "
                            "nothing",
                    .is_file = true,
                    .is_output = true}}};
}

OptionGroup engine_listing_group() {
  return {.title = "Engines",
          .description = "What is shown of engines",
          .rows = {{.names = {"--convert-to", "--display-as"},
                    .choices = {"trt"},
                    .help = "show the layers that the built-in engine makes of a model, before it chooses tactics"},
                   {.names = {"--combine-tensor-info"},
                    .metavar = "FILE",
                    .help = "saved outputs, whose least, greatest and mean values are shown with the tensors of layers",
                    .is_file = true}}};
}

}  // namespace

Command command_inspect_model() {
  return {
      .path = "inspect model",
      .summary = "list a model's inputs, outputs, nodes, attributes and weights, or what is in an engine",
      .description =
          "Shows what is in a model without running it. Weights are not read unless they are shown. A "
          "model that is wrong as a graph is listed too, with what is wrong as warnings. Of an engine that `convert` "
          "built: inputs and outputs, memory, profiles, and its layers with their formats, tactics and origins, also "
          "where it cannot run.",
      .positionals = {model_positional()},
      .groups = {logging_group(), model_group(), onnx_load_group(), listing_group(), memory_group(), page_group(),
                 engine_listing_group(),
                 tensorrt_group(
                     "have the user's TensorRT show its engine, or with --convert-to trt the network that its "
                     "parser makes"),
                 json_group(), engine_view_group()},
      .run = run_inspect_model,
      .examples = {"assay inspect model model.onnx --show layers attrs weights",
                   "assay inspect model model.onnx --filter-op 'Conv*' --json -",
                   "assay inspect model decoder.onnx --memory --input-shapes input_ids:[1,128] past*:[1,8,512,64]",
                   "assay inspect model model.engine --show layers attrs"}};
}

}  // namespace assay::cli
