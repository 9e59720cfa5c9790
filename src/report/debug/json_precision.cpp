#include "report/debug/json_precision.h"

#include "report/debug/json_debug.h"
#include "report/json_parts.h"

namespace assay::report {

namespace {

void write_node(JsonWriter& json, const results::ReducedNode& node) {
  json.begin_object();
  json.field("name", node.name);
  json.field("op", node.op);
  json.end_object();
}

}  // namespace

std::string precision_json(const results::PrecisionReport& report) {
  JsonReport out("debug precision");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("low", report.low);
  json.field("direction", report.direction);
  json.field("layer_count", report.layer_count);
  json.field("found", report.is_found);
  write_list(json, "kept", report.kept, write_node);
  write_list(json, "unconverted", report.unconverted, write_node);
  json.field("converted_count", report.converted_count);
  json.field("output", report.output);
  write_loop(json, report.loop);
  return out.end(report.timings);
}

}  // namespace assay::report
