#include "report/check/json_compatibility.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

void write_backend(JsonWriter& json, const results::BackendCompatibility& backend) {
  json.begin_object();
  json.field("backend", backend.backend);
  json.field("usable", backend.usable);
  json.field(backend.usable ? "version" : "reason", backend.version);
  json.field("node_count", static_cast<uint64_t>(backend.node_count));
  json.key("refused");
  json.begin_array();
  for (const results::RefusedNode& node : backend.refused) {
    json.begin_object();
    json.field("node", node.node);
    json.field("op", node.op);
    json.field("reason", node.reason);
    if (!node.remedy.empty()) json.field("remedy", node.remedy);
    json.end_object();
  }
  json.end_array();
  json.field("untried_count", static_cast<uint64_t>(backend.untried_count));
  if (!backend.whole_refusal.empty()) json.field("whole_refusal", backend.whole_refusal);
  if (!backend.whole_remedy.empty()) json.field("whole_remedy", backend.whole_remedy);
  json.end_object();
}

}  // namespace

std::string compatibility_json(const results::CompatibilityReport& report) {
  JsonReport out("check compatibility");
  JsonWriter& json = out.json;
  json.field("model", report.path);
  write_list(json, "backends", report.backends, write_backend);
  return out.end(report.timings);
}

}  // namespace assay::report
