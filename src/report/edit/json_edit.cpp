#include "report/edit/json_edit.h"

#include "report/json_parts.h"

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

void write_change(JsonWriter& json, const results::Change& change) {
  json.begin_object();
  json.field("action", change.action);
  json.field("name", change.name);
  json.field("detail", change.detail);
  json.end_object();
}

}  // namespace

std::string edit_json(const results::EditReport& report) {
  JsonReport out(report.command);
  JsonWriter& json = out.json;
  json.field("model", report.model);
  json.field("output", report.output);
  if (!report.outputs.empty()) write_texts(json, "outputs", report.outputs);
  write_size(json, "before", report.before);
  write_size(json, "after", report.after);
  write_list(json, "changes", report.changes, write_change);
  write_list(json, "skipped", report.skipped, write_change);
  return out.end(report.findings, report.timings);
}

}  // namespace assay::report
