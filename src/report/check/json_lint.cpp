#include "report/check/json_lint.h"

#include <algorithm>

#include "report/json_parts.h"

namespace assay::report {
namespace {

constexpr std::string_view kLevels[] = {"exception", "warning", "info"};

void write_entry(JsonWriter& json, const results::LintEntry& entry, bool as_there) {
  json.begin_object();
  json.field("level", kLevels[static_cast<size_t>(entry.level)]);
  json.field("source", entry.source);
  if (!as_there) json.field("code", entry.code);
  json.field("message", entry.message);
  if (!entry.remedy.empty() && !as_there) json.field("remedy", entry.remedy);
  if (!entry.node.empty()) write_texts(json, "nodes", {entry.node});
  json.end_object();
}

// A node that only has a warning.
void pass(const std::string& node, results::LintReport& report) {
  const auto is_in = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, node) != names.end();
  };
  if (!node.empty() && !is_in(report.passing) && !is_in(report.failing)) report.passing.push_back(node);
}

}  // namespace

std::string lint_json(const results::LintReport& report, bool as_there) {
  JsonReport out("check lint");
  JsonWriter& json = out.json;
  json.field("model", report.path);
  json.key("summary");
  json.begin_object();
  write_texts(json, "passing", report.passing);
  write_texts(json, "failing", report.failing);
  json.end_object();
  write_list(json, "lint_entries", report.entries,
             [as_there](JsonWriter& list, const results::LintEntry& entry) { write_entry(list, entry, as_there); });
  return out.end(report.timings);
}

void tell_as_there(results::LintReport& report) {
  std::erase_if(report.entries, [](const results::LintEntry& entry) {
    return entry.level == results::LintLevel::info || entry.code == "unranked_interface";
  });
  for (results::LintEntry& entry : report.entries) {
    const bool is_of_run = entry.source == "reference" || entry.source == "analysis" || entry.source == "onnxrt";
    if (is_of_run || entry.code == "custom_operator") entry.source = "onnxruntime";
    if (entry.code == "no_opset_import") {
      entry.level = results::LintLevel::warning;
      entry.source = "onnxruntime";
      entry.message = "No opset import for domain: " + entry.message;
    }
    const bool is_broken = entry.source == "onnx_loader" && entry.level == results::LintLevel::exception;
    if (is_broken && entry.code != "unreadable") entry.source = "onnx_checker";
    if (entry.level != results::LintLevel::exception) pass(entry.node, report);
  }
}

}  // namespace assay::report
