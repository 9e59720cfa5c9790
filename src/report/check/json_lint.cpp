#include "report/check/json_lint.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

constexpr std::string_view kLevels[] = {"exception", "warning", "info"};

void write_entry(JsonWriter& json, const results::LintEntry& entry) {
  json.begin_object();
  json.field("level", kLevels[static_cast<size_t>(entry.level)]);
  json.field("source", entry.source);
  json.field("code", entry.code);
  json.field("message", entry.message);
  if (!entry.remedy.empty()) json.field("remedy", entry.remedy);
  if (!entry.node.empty()) write_texts(json, "nodes", {entry.node});
  json.end_object();
}

}  // namespace

std::string lint_json(const results::LintReport& report) {
  JsonReport out("check lint");
  JsonWriter& json = out.json;
  json.field("model", report.path);
  json.key("summary");
  json.begin_object();
  write_texts(json, "passing", report.passing);
  write_texts(json, "failing", report.failing);
  json.end_object();
  write_list(json, "lint_entries", report.entries, write_entry);
  return out.end(report.timings);
}

}  // namespace assay::report
