#include "report/debug/json_precision.h"

#include "report/debug/json_debug.h"
#include "report/json_parts.h"

namespace assay::report {

std::string precision_json(const results::PrecisionReport& report) {
  JsonReport out("debug precision");
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("low", report.low);
  json.field("direction", report.direction);
  json.field("layer_count", report.layer_count);
  json.field("found", report.is_found);
  write_list(json, "kept", report.kept, [](JsonWriter& to, const results::ReducedNode& node) {
    to.begin_object();
    to.field("name", node.name);
    to.field("op", node.op);
    to.end_object();
  });
  json.field("output", report.output);
  write_loop(json, report.loop);
  return out.end(report.timings);
}

}  // namespace assay::report
