#include "tasks/tune/cache.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/read_text.h"
#include "base/text.h"
#include "formats/json/json_reader.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kKind = "assay/tuning/1";

// The document on one line.
std::string line_of(const JsonWriter& json) {
  std::string line;
  const std::string text = json.text();
  for (const std::string_view part : split(text, '\n'))
    line += part.substr(std::min(part.find_first_not_of(' '), part.size()));
  return line + '\n';
}

std::string model_name(const TuneRequest& request) {
  return request.bench.plan.empty() ? request.bench.model.path : request.bench.plan;
}

std::string route_line(const results::TunedRoute& route) {
  JsonWriter json;
  json.begin_object();
  json.field("route", route.route);
  json.field("failure", route.failure);
  json.field("median_seconds", route.median_seconds);
  if (route.ratio) {
    json.field("ratio", route.ratio->of_medians);
    if (route.ratio->medians_interval) {
      json.field("ratio_low", route.ratio->medians_interval->low);
      json.field("ratio_high", route.ratio->medians_interval->high);
    }
  }
  if (route.loss) json.field("loss", *route.loss);
  json.field("is_accurate", route.is_accurate);
  json.end_object();
  return line_of(json);
}

results::TunedRoute parse_route(std::string_view line) {
  formats::JsonReader in(line);
  results::TunedRoute route{.is_earlier = true};
  results::BenchRatio ratio;
  results::Interval interval;
  bool has_ratio = false;
  bool has_interval = false;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "route")
      route.route = in.string().text();
    else if (key == "failure")
      route.failure = in.string().text();
    else if (key == "median_seconds")
      route.median_seconds = in.number();
    else if (key == "ratio")
      has_ratio = (ratio.of_medians = in.number()) > 0;
    else if (key == "ratio_low")
      interval.low = in.number();
    else if (key == "ratio_high")
      has_interval = (interval.high = in.number()) > 0;
    else if (key == "loss")
      route.loss = in.peek() == formats::JsonReader::Kind::number ? in.number() : (in.skip(), NAN);
    else if (key == "is_accurate")
      route.is_accurate = in.boolean();
    else
      in.skip();
  }
  in.finish();
  if (has_interval) ratio.medians_interval = interval;
  if (has_ratio) route.ratio = ratio;
  return route;
}

// The model that the first line names. Error (parse): it is no such line.
std::string model_of(std::string_view line) {
  formats::JsonReader in(line);
  std::string kind;
  std::string model;
  in.begin_object();
  for (std::string key; in.next_key(key);) {
    if (key == "kind")
      kind = in.string().text();
    else if (key == "model")
      model = in.string().text();
    else
      in.skip();
  }
  if (kind != kKind) fail(ErrorCode::parse, "it is no file of a search over choices");
  return model;
}

}  // namespace

TuneCache::TuneCache(const TuneRequest& request, std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  request.continues ? read(request) : begin(request);
}

void TuneCache::begin(const TuneRequest& request) {
  JsonWriter json;
  json.begin_object();
  json.field("kind", kKind);
  json.field("model", model_name(request));
  json.field("command_line", request.command);
  json.key("knobs");
  json.begin_object();
  for (const Knob& knob : request.knobs) json.field(knob.name, join(knob.values, "|"));
  json.end_object();
  json.end_object();
  OutputFile file(path_);
  file.write(line_of(json));
  file.commit();
}

void TuneCache::read(const TuneRequest& request) {
  with_frame([&] { return fmt::format("`{}`", printable(path_)); },
             [&] {
               const std::string text = read_text(path_);
               bool is_first = true;
               for (const std::string_view line : split(text, '\n')) {
                 if (line.empty()) continue;
                 if (!is_first) known_.push_back(parse_route(line));
                 const std::string model = is_first ? model_of(line) : "";
                 if (is_first && model != model_name(request))
                   fail(ErrorCode::usage, "it is about the model `{}`", printable(model));
                 is_first = false;
               }
               if (is_first) fail(ErrorCode::parse, "it is empty");
             });
}

const results::TunedRoute* TuneCache::find(const std::string& route) const {
  const auto found = std::ranges::find(known_, route, &results::TunedRoute::route);
  return found == known_.end() ? nullptr : &*found;
}

void TuneCache::add(const results::TunedRoute& route) {
  if (path_.empty()) return;
  std::ofstream file(path_, std::ios::app);
  file << route_line(route) << std::flush;
  if (!file) fail(ErrorCode::io, "`{}` cannot be written", printable(path_));
}

}  // namespace assay::tasks
