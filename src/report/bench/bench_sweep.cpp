#include "report/bench/bench_sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_parts.h"

namespace assay::report {
namespace {

std::string median_text(const results::BenchSide& side) {
  return side.is_measured() ? fmt::format("{:.6g}", side.compute.median * 1e3) : "-";
}

void write_point(JsonWriter& json, const results::BenchSweep::Point& point) {
  json.begin_object();
  json.field("label", point.label);
  json.field("elements", point.elements);
  if (point.growth) json.field("growth", *point.growth);
  write_list(json, "backends", point.bench.sides, [](JsonWriter& list, const results::BenchSide& side) {
    list.begin_object();
    list.field("backend", side.backend);
    if (side.is_measured()) {
      list.field("median_seconds", side.compute.median);
      list.field("min_seconds", side.compute.min);
      list.field("throughput", side.throughput);
    } else {
      list.field("failure", side.failure);
    }
    list.end_object();
  });
  json.end_object();
}

}  // namespace

std::vector<std::string> sweep_lines(const results::BenchSweep& sweep) {
  size_t widest = 6;
  for (const results::BenchSweep::Point& point : sweep.points) widest = std::max(widest, point.label.size());
  std::string title = fmt::format("{:<{}}", "Shapes", widest);
  for (const results::BenchSide& side : sweep.points[0].bench.sides) title += fmt::format("{:>14}", side.backend);
  std::vector<std::string> lines = {title + fmt::format("{:>14}{:>10}", "runs/s", "growth")};
  for (const results::BenchSweep::Point& point : sweep.points) {
    std::string line = fmt::format("{:<{}}", printable(point.label), widest);
    for (const results::BenchSide& side : point.bench.sides) line += fmt::format("{:>14}", median_text(side));
    line += fmt::format("{:>14.6g}", point.bench.sides[0].throughput);
    lines.push_back(line + (point.growth ? fmt::format("{:>10.2f}", *point.growth) : fmt::format("{:>10}", "")));
  }
  lines.emplace_back("Medians in ms; growth is the power of the number of elements with which the first one grew.");
  return lines;
}

std::string sweep_json(const results::BenchSweep& sweep) {
  JsonReport report("bench");
  write_list(report.json, "sweep", sweep.points, write_point);
  return report.end({});
}

}  // namespace assay::report
