#include "report/inspect/json_data.h"

#include "report/json_parts.h"
#include "report/run/json_stats.h"

namespace assay::report {
namespace {

void write_array(JsonWriter& json, const results::ListedArray& array) {
  json.begin_object();
  json.field("name", array.name);
  if (!array.slice.empty()) json.field("slice", array.slice);
  json.field("dtype", array.dtype);
  write_numbers(json, "shape", array.shape);
  json.key("stats");
  if (array.stats)
    write_stats(json, *array.stats);
  else
    json.null();
  if (!array.percentiles.empty()) {
    json.key("percentiles");
    json.begin_array();
    for (const auto& [percent, value] : array.percentiles) {
      json.begin_object();
      json.field("percent", percent);
      json.field("value", value);
      json.end_object();
    }
    json.end_array();
  }
  if (array.values) json.field("values", *array.values);
  json.end_object();
}

void write_run(JsonWriter& json, const results::ListedRun& run, bool has_runner) {
  json.begin_object();
  json.key("runner");
  if (has_runner)
    json.value(run.runner);
  else
    json.null();
  json.field("iteration_count", static_cast<uint64_t>(run.iteration_count));
  json.key("iterations");
  json.begin_array();
  for (const results::ListedIteration& iteration : run.iterations) {
    json.begin_object();
    json.field("iteration", static_cast<uint64_t>(iteration.number));
    json.key("runtime_seconds");
    if (iteration.runtime_seconds)
      json.value(*iteration.runtime_seconds);
    else
      json.null();
    json.key("arrays");
    json.begin_array();
    for (const results::ListedArray& array : iteration.arrays) write_array(json, array);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string data_json(const results::DataListing& listing) {
  JsonReport out("inspect data");
  JsonWriter& json = out.json;
  json.field("path", listing.path);
  json.field("kind", listing.has_runners ? "outputs" : "inputs");
  json.key("runs");
  json.begin_array();
  for (const results::ListedRun& run : listing.runs) write_run(json, run, listing.has_runners);
  json.end_array();
  return out.end(listing.timings);
}

}  // namespace assay::report
