#include "report/bench/text_profile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr size_t kMostNames = 3;  // of nodes, on a line

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds * 1e-9) : "-";
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() < kMostNames) shown.push_back(printable(name));
  }
  const size_t left = names.size() - shown.size();
  return join(shown, ", ") + (left > 0 ? fmt::format(" and {} more", left) : "");
}

}  // namespace

std::string roof_text(const results::MachineRoof& roof) {
  if (roof.threads == 0) {
    return fmt::format("at best {:.1f} TFLOP/s in products of {} and {:.1f} GB/s of memory",
                       roof.flops_per_second * 1e-12, roof.type, roof.bytes_per_second * 1e-9);
  }
  return fmt::format(
      "at best {:.1f} GFLOP/s in float32 and {:.1f} GB/s of memory with {} thread(s); what is in caches is faster",
      roof.flops_per_second * 1e-9, roof.bytes_per_second * 1e-9, roof.threads);
}

std::string how_computed(const results::ProfiledLayer& layer) {
  const bool is_usual = layer.provider.empty() || layer.provider == "CPUExecutionProvider";
  return is_usual ? layer.op : fmt::format("{} on {}", layer.op, layer.provider);
}

std::vector<std::string> profile_table(const results::ProfiledBackend& backend) {
  std::vector<std::string> lines = {
      fmt::format("{:>10}{:>8}{:>10}{:>8}  {:<10}  {}", "Time(ms)", "Share%", "GFLOP/s", "GB/s", "Bound", "Layer")};
  double total = 0;
  for (const results::ProfiledLayer& layer : backend.layers) {
    total += layer.seconds;
    lines.push_back(
        fmt::format("{:>10.4f}{:>8.1f}{:>10}{:>8}  {:<10}  {} [{}]", layer.seconds * 1e3, layer.share * 100,
                    rate(layer.flops.value_or(0), layer.seconds), rate(static_cast<double>(layer.bytes), layer.seconds),
                    layer.bound.empty() ? "-" : layer.bound, printable(layer.layer), printable(how_computed(layer))));
  }
  std::string rest;
  if (total < backend.run_seconds)
    rest = fmt::format("; {:.4f} ms of the median run are between them", (backend.run_seconds - total) * 1e3);
  lines.push_back(fmt::format("{:>10.4f}{:>8.1f}  all layers{}", total * 1e3, 100.0, rest));
  return lines;
}

std::vector<std::string> side_by_side(const results::ProfileReport& report) {
  std::string title;
  for (const results::ProfiledBackend& backend : report.backends) title += fmt::format("{:>12}", backend.backend);
  std::vector<std::string> lines = {title + "  (ms) Nodes"};
  std::vector<const results::LayerGroup*> groups;
  for (const results::LayerGroup& group : report.groups) groups.push_back(&group);
  const auto slowness = [](const results::LayerGroup* group) {
    return std::isnan(group->seconds[0]) ? -1 : group->seconds[0];
  };
  std::ranges::stable_sort(groups, std::ranges::greater(), slowness);
  for (const results::LayerGroup* group : groups) {
    std::string line;
    for (const double seconds : group->seconds) {
      line += std::isnan(seconds) ? fmt::format("{:>12}", "-") : fmt::format("{:>12.4f}", seconds * 1e3);
    }
    lines.push_back(line + "  " + names_text(group->origins));
  }
  return lines;
}

}  // namespace assay::report
