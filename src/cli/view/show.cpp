#include "cli/view/show.h"

#include <future>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/values.h"
#include "cli/view/browser.h"
#include "cli/view/export.h"
#include "cli/view/routes.h"
#include "http/server.h"
#include "report/view/page.h"

namespace assay::cli {
namespace {

bool is_picture(const std::string& path) { return to_lower(path).ends_with(".svg"); }

void check_output(const std::string& path) {
  if (!is_picture(path) && !to_lower(path).ends_with(".html")) {
    fail(ErrorCode::usage, "`{}`: a page is written to .html, a picture to .svg", printable(path));
  }
  static_cast<void>(OutputFile(path));
}

void save_view(const tasks::View& view, const std::string& path, Environment& environment) {
  view.wait();
  OutputFile file(path);
  file.write(is_picture(path) ? report::scene_svg(view.scene(0)) : view_page(view, environment.command_line));
  file.commit();
  environment.log.info("Saved " + printable(path));
}

void serve_view(tasks::View& view, const ViewPlace& place, Environment& environment) {
  ViewRoutes routes(view, environment.command_line);
  http::ServerOptions options;
  options.port = place.port;
  options.token = http::make_token();
  options.keeps_running = place.keeps_running;
  const std::string token = options.token;
  http::Server server(std::move(options), [&](const http::Request& request) { return routes.reply(request); });
  const std::string address = fmt::format("http://127.0.0.1:{}/#token={}", server.port(), token);
  environment.log.info("The page is at " + address);
  environment.log.info(fmt::format(
      "From another machine: ssh -C -L {0}:127.0.0.1:{0} HOST, then the same address there", server.port()));
  std::fflush(environment.out);
  Browser browser;
  if (place.opens_browser && !browser.open(address)) {
    environment.log.info("No browser was started: there is no display");
  }
  std::future<void> made = std::async(std::launch::async, [&] {
    try {
      view.wait();
    } catch (...) {
      server.stop();
      throw;
    }
  });
  server.run();
  made.get();
}

}  // namespace

uint16_t parse_port(std::string_view option, const std::string& text) {
  const uint64_t port = parse_count(option, text);
  if (port > std::numeric_limits<uint16_t>::max()) fail(ErrorCode::usage, "`{}`: {} is no port", option, port);
  return static_cast<uint16_t>(port);
}

void show_view(const tasks::ViewRequest& request, const ViewPlace& place, const Arguments& arguments,
               Environment& environment) {
  if (!place.output.empty()) check_output(place.output);
  LogObserver observer(arguments, environment);
  tasks::View view(request, observer);
  if (place.output.empty())
    serve_view(view, place, environment);
  else
    save_view(view, place.output, environment);
}

}  // namespace assay::cli
