#include "report/check/lint_as_there.h"

#include <algorithm>

namespace assay::report {
namespace {

// A node that only has a warning.
void pass(const std::string& node, results::LintReport& report) {
  const auto is_in = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, node) != names.end();
  };
  if (!node.empty() && !is_in(report.passing) && !is_in(report.failing)) report.passing.push_back(node);
}

}  // namespace

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
