#include "report/bench/bench_sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

std::string median_text(const results::BenchSide& side) {
  return side.is_measured() ? fmt::format("{:.6g}", side.compute.median * 1e3) : "-";
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

}  // namespace assay::report
