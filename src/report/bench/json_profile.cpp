#include "report/bench/json_profile.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_process(JsonWriter& json, const results::ProfiledBackend& backend, uint64_t number) {
  json.begin_object();
  json.field("name", "process_name");
  json.field("ph", "M");
  json.field("pid", number);
  json.field("tid", 0);
  json.key("args");
  json.begin_object();
  json.field("name", backend.title);
  json.end_object();
  json.end_object();
}

void write_event(JsonWriter& json, const results::ProfiledLayer& layer, uint64_t process, double start) {
  constexpr double kMicroseconds = 1e6;
  json.begin_object();
  json.field("name", layer.layer);
  json.field("cat", "layer");
  json.field("ph", "X");
  json.field("ts", start * kMicroseconds);
  json.field("dur", layer.seconds * kMicroseconds);
  json.field("pid", process);
  json.field("tid", 0);
  json.key("args");
  json.begin_object();
  json.field("op", layer.op);
  write_texts(json, "origins", layer.origins);
  if (layer.flops) json.field("flops", *layer.flops);
  if (layer.bytes != 0) json.field("bytes", layer.bytes);
  if (!layer.provider.empty()) json.field("provider", layer.provider);
  json.field("bound", layer.bound);
  json.end_object();
  json.end_object();
}

}  // namespace

std::string profile_trace(const results::ProfileReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("displayTimeUnit", "ms");
  json.key("traceEvents");
  json.begin_array();
  for (size_t i = 0; i < report.backends.size(); ++i) {
    const results::ProfiledBackend& backend = report.backends[i];
    write_process(json, backend, i + 1);
    double start = 0;
    for (const results::ProfiledLayer& layer : backend.layers) {
      write_event(json, layer, i + 1, start);
      start += layer.seconds;
    }
  }
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace assay::report
