#include "tasks/view.h"

#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/values.h"
#include "cli/view/browser.h"
#include "cli/view/export.h"
#include "cli/view/routes.h"
#include "http/server.h"
#include "report/view/page.h"

namespace assay::cli {
namespace {

tasks::ViewRequest view_request(const Arguments& arguments) {
  tasks::ViewRequest request;
  request.model = model_source(arguments.value("model_file"), arguments);
  if (arguments.has("other_file")) request.other = model_source(arguments.value("other_file"), arguments);
  request.with = arguments.values("--with");
  return request;
}

bool is_picture(const std::string& path) { return to_lower(path).ends_with(".svg"); }

// A file that cannot be written is told before anything is read.
void check_output(const std::string& path) {
  if (!is_picture(path) && !to_lower(path).ends_with(".html")) {
    fail(ErrorCode::usage, "`{}`: a page is written to .html, a picture to .svg", printable(path));
  }
  static_cast<void>(OutputFile(path));
}

void save_view(const tasks::View& view, const std::string& path, Environment& environment) {
  OutputFile file(path);
  file.write(is_picture(path) ? report::scene_svg(view.scene(0)) : view_page(view, environment.command_line));
  file.commit();
  environment.log.info("Saved " + printable(path));
}

void serve_view(tasks::View& view, const Arguments& arguments, Environment& environment) {
  ViewRoutes routes(view, environment.command_line);
  http::ServerOptions options;
  const uint64_t port = parse_count("--port", arguments.value("--port"));
  if (port > std::numeric_limits<uint16_t>::max()) fail(ErrorCode::usage, "`--port`: {} is no port", port);
  options.port = static_cast<uint16_t>(port);
  options.token = http::make_token();
  options.keeps_running = arguments.flag("--keep");
  const std::string token = options.token;
  http::Server server(std::move(options), [&](const http::Request& request) { return routes.reply(request); });
  const std::string address = fmt::format("http://127.0.0.1:{}/#token={}", server.port(), token);
  environment.log.info("The page is at " + address);
  environment.log.info(
      fmt::format("From another machine: ssh -L {0}:127.0.0.1:{0} HOST, then the same address there", server.port()));
  std::fflush(environment.out);
  Browser browser;
  if (!arguments.flag("--no-browser") && !browser.open(address)) {
    environment.log.info("No browser was started: there is no display");
  }
  server.run();
}

int run_view(const Arguments& arguments, Environment& environment) {
  const tasks::ViewRequest request = view_request(arguments);
  if (arguments.has("--output")) check_output(arguments.value("--output"));
  LogObserver observer(arguments, environment);
  tasks::View view(request, observer);
  if (arguments.has("--output")) {
    save_view(view, arguments.value("--output"), environment);
  } else {
    serve_view(view, arguments, environment);
  }
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
           .help = "reports (--json of `run`, `debug accuracy`, `profile`, `check lint`, `check compatibility`, "
                   "`debug range`), plans, and saved inputs or outputs, to be shown on the model",
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
