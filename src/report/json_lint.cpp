#include "report/json_lint.h"

#include "base/json.h"
#include "report/json_model.h"

namespace assay::report {
namespace {

constexpr std::string_view kLevels[] = {"exception", "warning", "info"};

void write_entry(JsonWriter& json, const results::LintEntry& entry) {
  json.begin_object();
  json.field("level", kLevels[static_cast<size_t>(entry.level)]);
  json.field("source", entry.source);
  json.field("code", entry.code);
  json.field("message", entry.message);
  if (!entry.node.empty()) write_texts(json, "nodes", {entry.node});
  json.end_object();
}

}  // namespace

std::string lint_json(const results::LintReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("schema", "assay/check-lint/1");
  json.field("model", report.path);
  json.key("summary");
  json.begin_object();
  write_texts(json, "passing", report.passing);
  write_texts(json, "failing", report.failing);
  json.end_object();
  json.key("lint_entries");
  json.begin_array();
  for (const results::LintEntry& entry : report.entries) write_entry(json, entry);
  json.end_array();
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
