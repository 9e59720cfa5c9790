#include "tasks/view.h"

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/view/show.h"

namespace assay::cli {
namespace {

tasks::ViewRequest view_request(const Arguments& arguments) {
  tasks::ViewRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  if (arguments.has("other_file")) request.other = model_source(arguments.value("other_file"), arguments);
  request.with = arguments.values("--with");
  return request;
}

int run_view(const Arguments& arguments, Environment& environment) {
  const ViewPlace place = {.output = arguments.has("--output") ? arguments.value("--output") : "",
                           .port = parse_port("--port", arguments.value("--port")),
                           .opens_browser = !arguments.flag("--no-browser"),
                           .keeps_running = arguments.flag("--keep")};
  show_view(view_request(arguments), place, arguments, environment);
  return kExitEqual;
}

OptionRow other_row() {
  OptionRow row = optional_model_positional();
  row.names = {"other_file"};
  row.help = "another model, shown with what differs";
  return row;
}

OptionGroup page_group() {
  return {
      .title = "Page",
      .description = "What is shown, and where",
      .rows = {
          {.names = {"--with"},
           .arity = Arity::one_or_more,
           .repeat = Repeat::append,
           .metavar = "FILE",
           .help =
               "reports (--json of `run`, `debug accuracy`, `profile`, `check lint`, `check compatibility`, "
               "`debug range`, `debug bisect`, and with --explain of `surgeon sanitize` and `convert`), plans, saved "
               "inputs or outputs, and calibration caches, to be shown on the model",
           .is_file = true},
          {.names = {"-o", "--output"},
           .metavar = "FILE",
           .help = "write the page to one .html file that works offline, or its picture to .svg, and serve "
                   "nothing",
           .is_file = true,
           .is_output = true},
          {.names = {"--port"}, .metavar = "N", .default_value = "0", .help = "port on 127.0.0.1; 0: any that is free"},
          {.names = {"--no-browser"}, .arity = Arity::flag, .help = "only print the address"},
          {.names = {"--keep"}, .arity = Arity::flag, .help = "do not end when no page has been open for a minute"}}};
}

}  // namespace

Command command_view() {
  return {
      .path = "view",
      .summary = "see a model, its values, its errors and its time on one page",
      .description =
          "Shows a model as a graph of groups in the browser, with facts of its nodes and values, and whatever reports "
          "say about them. The page is served to this machine only, and to nobody without the secret in its address; "
          "the command ends when the page is closed. Nothing is run unless the page is asked to. With two models it "
          "shows what differs.\n\nA file that cannot be shown is named, and the rest is shown.",
      .positionals = {model_positional(), other_row()},
      .groups = {logging_group(), model_group(), onnx_load_group(), page_group()},
      .run = run_view,
      .examples = {"assay view model.onnx", "assay view before.onnx after.onnx",
                   "assay view model.onnx --with accuracy.json profile.json -o model.html"}};
}

}  // namespace assay::cli
