#include "cli/view/routes.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/stopwatch.h"
#include "cli/view/export.h"
#include "report/view/containers.h"
#include "report/view/json_view.h"
#include "report/view/page.h"

namespace assay::cli {
namespace {

constexpr double kPingSeconds = 15;

http::Reply body_of(std::string body, std::string type = "application/json") {
  http::Reply reply;
  reply.body = std::move(body);
  reply.type = std::move(type);
  return reply;
}

http::Reply container_of(report::Container container) {
  http::Reply reply = body_of("", "application/octet-stream");
  const auto kept = std::make_shared<const report::Container>(std::move(container));
  kept->write([&](std::string_view piece) { reply.pieces.push_back(piece); });
  reply.owner = kept;
  return reply;
}

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

uint32_t need_number(std::string_view text) {
  const std::optional<uint32_t> value = number(text);
  if (!value) fail(ErrorCode::usage, "a number is expected");
  return *value;
}

http::Reply not_found() { return http::refusal(404, "there is nothing here"); }

std::filesystem::file_time_type time_of(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? std::filesystem::file_time_type::min() : time;
}

}  // namespace

ViewRoutes::ViewRoutes(tasks::View& view, std::string command_line)
    : view_(view), command_line_(std::move(command_line)), tasks_(view) {
  for (size_t i = 0; i < view.scene_count(); ++i) times_.push_back(time_of(view.file(i)));
}

uint64_t ViewRoutes::revision() {
  const std::scoped_lock lock(mutex_);
  for (size_t i = 0; i < times_.size(); ++i) {
    const auto time = time_of(view_.file(i));
    if (time == times_[i]) continue;
    times_[i] = time;
    ++revision_;
    tasks_.tell(fmt::format("{{\"type\":\"revision\",\"revision\":{}}}", revision_));
  }
  return revision_;
}

http::Reply ViewRoutes::reply(const http::Request& request) {
  const Parts parts = request.parts();
  if (!parts.empty() && parts[0] == "api") return api(request, parts);
  if (request.method != "GET") return http::refusal(405, "only GET is understood here");
  if (!parts.empty()) return not_found();
  http::Reply page = body_of(report::served_page(), "text/html");
  page.sources = report::served_sources();
  return page;
}

http::Reply ViewRoutes::api(const http::Request& request, const Parts& parts) {
  return request.method == "GET" ? get(request, parts) : post(request, parts);
}

http::Reply ViewRoutes::get(const http::Request& request, const Parts& parts) {
  const std::string_view what = parts.size() > 1 ? parts[1] : "";
  if (what == "subject" && parts.size() == 2) {
    report::ViewSubject subject = {.scene_count = view_.scene_count(),
                                   .overlays = {},
                                   .revision = revision(),
                                   .has_tasks = true,
                                   .command = command_line_};
    for (size_t i = 0; i < view_.overlay_count(); ++i) subject.overlays.push_back(&view_.overlay(i));
    return body_of(report::subject_json(subject));
  }
  if (what == "scene" && parts.size() == 3) {
    return container_of(report::scene_container(view_.scene(need_number(parts[2])), revision()));
  }
  if (what == "overlay" && parts.size() == 3) {
    return container_of(report::overlay_container(view_.overlay(need_number(parts[2])), revision()));
  }
  if (what == "node" && parts.size() == 4) {
    return body_of(report::node_json(view_.node(need_number(parts[2]), need_number(parts[3]))));
  }
  if (what == "value" && parts.size() == 5) return value(request, parts);
  if (what == "values" && parts.size() == 5 && parts[2] == "compare") {
    return body_of(report::comparison_json(view_.compare(need_number(parts[3]), need_number(parts[4]))));
  }
  if (what == "search" && parts.size() == 2) {
    const uint32_t scene = need_number(request.parameter("scene").value_or("0"));
    return body_of(report::items_json(view_.search(scene, request.parameter("attr").value_or(""))));
  }
  if (what == "events" && parts.size() == 2) {
    http::Reply reply;
    reply.stream = [this](http::Stream& stream) { stream_events(stream); };
    return reply;
  }
  return not_found();
}

http::Reply ViewRoutes::value(const http::Request& request, const Parts& parts) {
  const uint32_t scene = need_number(parts[2]);
  const uint32_t value = need_number(parts[3]);
  if (parts[4] == "statistics") return body_of(report::value_json(view_.value(scene, value)));
  if (parts[4] != "slice") return not_found();
  tasks::SliceRequest slice;
  slice.at = request.parameter("at").value_or("");
  slice.reduce = request.parameter("reduce").value_or("");
  slice.most = need_number(request.parameter("width").value_or("512"));
  return body_of(report::slice_container(view_.slice(scene, value, slice)).text(), "application/octet-stream");
}

http::Reply ViewRoutes::exported(const http::Request& request) {
  const std::string kind = tasks::text_field(request.body, "kind");
  if (kind == "html") return body_of(view_page(view_, command_line_), "text/html");
  if (kind == "svg") return body_of(report::scene_svg(view_.scene(0)), "image/svg+xml");
  return http::refusal(400, "only html and svg are exported");
}

http::Reply ViewRoutes::post(const http::Request& request, const Parts& parts) {
  if (parts.size() == 2 && parts[1] == "export") return exported(request);
  if (parts.size() == 2 && parts[1] == "task") {
    return body_of(fmt::format("{{\"id\":{}}}\n", tasks_.start(tasks::text_fields(request.body, "command"))));
  }
  if (parts.size() == 4 && parts[1] == "task" && parts[3] == "cancel") {
    tasks_.cancel(need_number(parts[2]));
    return body_of("{}\n");
  }
  return not_found();
}

void ViewRoutes::stream_events(http::Stream& stream) {
  size_t next = tasks_.event_count();
  Stopwatch since_ping;
  bool is_open = stream.write("{\"type\":\"ping\"}\n");
  while (is_open) {
    revision();
    for (const std::string& event : tasks_.events_from(next, 0.5)) {
      is_open = is_open && stream.write(event + "\n");
      ++next;
    }
    const bool is_late = since_ping.seconds() > kPingSeconds;
    if (is_late) since_ping = Stopwatch();
    is_open = is_open && stream.write(is_late ? "{\"type\":\"ping\"}\n" : "");
  }
}

}  // namespace assay::cli
