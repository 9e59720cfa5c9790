#include "report/json_compatibility.h"

#include "base/json.h"
#include "report/json_model.h"

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
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string compatibility_json(const results::CompatibilityReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("schema", "assay/check-compatibility/1");
  json.field("model", report.path);
  json.key("backends");
  json.begin_array();
  for (const results::BackendCompatibility& backend : report.backends) write_backend(json, backend);
  json.end_array();
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
