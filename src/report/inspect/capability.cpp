#include "report/inspect/capability.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

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

}  // namespace assay::report
