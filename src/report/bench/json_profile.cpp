#include "report/bench/json_profile.h"

#include <cmath>

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_layer(JsonWriter& json, const results::ProfiledLayer& layer) {
  json.begin_object();
  json.field("name", layer.layer);
  json.field("op", layer.op);
  write_texts(json, "origins", layer.origins);
  json.field("seconds", layer.seconds);
  json.field("share", layer.share);
  if (layer.flops) json.field("flops", *layer.flops);
  if (layer.bytes != 0) json.field("bytes", layer.bytes);
  json.field("bound", layer.bound);
  json.end_object();
}

void write_backend(JsonWriter& json, const results::ProfiledBackend& backend) {
  json.begin_object();
  json.field("backend", backend.backend);
  if (!backend.failure.empty()) json.field("failure", backend.failure);
  json.field("runs", backend.runs);
  json.field("run_seconds", backend.run_seconds);
  json.key("counters");
  json.begin_object();
  for (const auto& [name, count] : backend.counters) json.field(name, count);
  json.end_object();
  write_list(json, "layers", backend.layers, write_layer);
  json.end_object();
}

void write_group(JsonWriter& json, const results::LayerGroup& group) {
  json.begin_object();
  write_texts(json, "origins", group.origins);
  json.key("seconds");
  json.begin_array();
  for (const double seconds : group.seconds) std::isnan(seconds) ? json.null() : json.value(seconds);
  json.end_array();
  json.end_object();
}

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
  json.field("bound", layer.bound);
  json.end_object();
  json.end_object();
}

}  // namespace

std::string profile_json(const results::ProfileReport& report) {
  JsonReport out("profile");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.key("roof");
  json.begin_object();
  json.field("threads", static_cast<uint64_t>(report.roof.threads));
  json.field("flops_per_second", report.roof.flops_per_second);
  json.field("bytes_per_second", report.roof.bytes_per_second);
  json.end_object();
  if (!report.no_counters.empty()) json.field("no_counters", report.no_counters);
  write_list(json, "backends", report.backends, write_backend);
  write_list(json, "groups", report.groups, write_group);
  return out.end(report.findings, report.timings);
}

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
