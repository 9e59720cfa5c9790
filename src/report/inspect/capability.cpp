#include "report/inspect/capability.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_parts.h"

namespace assay::report {
namespace {

using Row = std::vector<std::string>;

// Columns as wide as their widest cells, under a line as wide as the widest row.
std::string table_text(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  size_t widest = 0;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += i + 1 < row.size() ? fmt::format("{:<{}} | ", row[i], widths[i]) : row[i];
    }
    widest = std::max(widest, line.size());
    lines.push_back(std::move(line));
  }
  lines.insert(lines.begin() + 1, std::string(widest, '-'));
  return "===== Summary =====\n" + join(lines, "\n");
}

struct Group {
  std::string op;
  std::string reason;
  std::vector<std::string> ranges;
};

}  // namespace

std::string refused_nodes_text(const results::CapabilityReport& report) {
  std::vector<Row> rows = {{"Operator", "Node", "Reason"}};
  for (const results::NodeRange& range : report.ranges) {
    for (const std::string& node : range.nodes) {
      rows.push_back({printable(range.op), printable(node), printable(range.reason)});
    }
  }
  return table_text(rows);
}

std::string capability_summary_text(const results::CapabilityReport& report) {
  std::vector<Group> groups;
  for (const results::NodeRange& range : report.ranges) {
    if (range.is_supported) continue;
    auto group = std::ranges::find_if(
        groups, [&](const Group& known) { return known.op == range.op && known.reason == range.reason; });
    if (group == groups.end()) group = groups.insert(groups.end(), {range.op, range.reason, {}});
    group->ranges.push_back(fmt::format("[{}, {}]", range.first, range.last + 1));
  }
  std::vector<Row> rows = {{"Operator", "Count", "Reason", "Nodes"}};
  for (const Group& group : groups) {
    rows.push_back({printable(group.op), fmt::format("{}", group.ranges.size()), printable(group.reason),
                    fmt::format("[{}]", join(group.ranges, ", "))});
  }
  return table_text(rows);
}

std::string capability_json(const results::CapabilityReport& report) {
  JsonReport out("inspect capability");
  JsonWriter& json = out.json;
  json.field("model", report.path);
  json.field("backend", report.backend);
  if (!report.whole_refusal.empty()) json.field("whole_refusal", report.whole_refusal);
  if (!report.whole_remedy.empty()) json.field("whole_remedy", report.whole_remedy);
  json.field("untried_count", static_cast<uint64_t>(report.untried_count));
  write_list(json, "ranges", report.ranges, [](JsonWriter& list, const results::NodeRange& range) {
    list.begin_object();
    list.field("first", static_cast<uint64_t>(range.first));
    list.field("last", static_cast<uint64_t>(range.last));
    list.field("supported", range.is_supported);
    if (!range.is_supported) {
      list.field("op", range.op);
      write_texts(list, "nodes", range.nodes);
      list.field("reason", range.reason);
    }
    if (!range.file.empty()) list.field("file", range.file);
    list.end_object();
  });
  return out.end(report.timings);
}

}  // namespace assay::report
