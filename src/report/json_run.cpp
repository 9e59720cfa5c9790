#include "report/json_run.h"

#include <cmath>

#include "base/json.h"
#include "report/json_model.h"

namespace assay::report {
namespace {

void write_stats(JsonWriter& json, const results::TensorStats& stats) {
  json.begin_object();
  json.field("count", stats.count);
  json.field("mean", stats.mean);
  json.field("std_dev", std::sqrt(stats.variance));
  json.field("variance", stats.variance);
  json.field("median", stats.median);
  json.field("min", stats.least);
  write_numbers(json, "min_at", stats.least_at);
  json.field("max", stats.greatest);
  write_numbers(json, "max_at", stats.greatest_at);
  json.field("mean_magnitude", stats.mean_magnitude);
  json.field("nan_count", stats.nan_count);
  json.field("inf_count", stats.inf_count);
  json.end_object();
}

void write_values(JsonWriter& json, std::string_view key, const std::vector<results::RunValue>& values) {
  json.key(key);
  json.begin_array();
  for (const results::RunValue& value : values) {
    json.begin_object();
    json.field("name", value.name);
    json.field("dtype", value.type);
    if (value.is_tensor) write_numbers(json, "shape", value.shape);
    if (value.stats) {
      json.key("stats");
      write_stats(json, *value.stats);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string run_json(const results::RunReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("schema", "assay/run/1");
  json.field("model", report.model);
  json.key("runs");
  json.begin_array();
  for (const results::RunnerRun& run : report.runs) {
    json.begin_object();
    json.field("runner", run.runner);
    write_values(json, "inputs", run.inputs);
    write_values(json, "outputs", run.outputs);
    json.key("timings");
    write_timings(json, {{"load_seconds", run.load_seconds}, {"run_seconds", run.run_seconds}});
    json.end_object();
  }
  json.end_array();
  json.key("findings");
  write_findings(json, report.findings);
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
