#include "report/json_edit.h"

#include <algorithm>

#include "base/json.h"
#include "report/json_model.h"

namespace assay::report {
namespace {

void write_size(JsonWriter& json, std::string_view key, const results::ModelSize& size) {
  json.key(key);
  json.begin_object();
  json.field("nodes", size.nodes);
  json.field("initializers", size.initializers);
  json.field("initializer_bytes", size.initializer_bytes);
  json.end_object();
}

void write_changes(JsonWriter& json, std::string_view key, const std::vector<results::Change>& changes) {
  json.key(key);
  json.begin_array();
  for (const results::Change& change : changes) {
    json.begin_object();
    json.field("action", change.action);
    json.field("name", change.name);
    json.field("detail", change.detail);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string edit_json(const results::EditReport& report) {
  std::string schema = "assay/" + report.command + "/1";
  std::ranges::replace(schema, ' ', '-');
  JsonWriter json;
  json.begin_object();
  json.field("schema", schema);
  json.field("model", report.model);
  json.field("output", report.output);
  write_size(json, "before", report.before);
  write_size(json, "after", report.after);
  write_changes(json, "changes", report.changes);
  write_changes(json, "skipped", report.skipped);
  json.key("findings");
  write_findings(json, report.findings);
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
