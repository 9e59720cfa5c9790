#include "report/html/profile_page.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "report/bench/text_profile.h"
#include "report/html/simple_page.h"

namespace assay::report {
namespace {

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds * 1e-9) : "";
}

void add_backend(SimplePage& page, const results::ProfiledBackend& backend) {
  page.heading(backend.title);
  if (!backend.failure.empty()) page.paragraph(backend.failure);
  if (backend.layers.empty()) return;
  page.paragraph(fmt::format("{} run(s), median {:.4f} ms{}", backend.runs, backend.run_seconds * 1e3,
                             backend.is_added ? "; each layer's time is what it adds to a run" : ""));
  if (backend.roof) page.paragraph("The device reaches " + roof_text(*backend.roof) + ".");
  for (const auto& [name, count] : backend.counters) page.paragraph(fmt::format("{}: {} in a run", name, count));
  std::vector<std::vector<std::string>> rows;
  std::vector<double> shares;
  for (const results::ProfiledLayer& layer : backend.layers) {
    shares.push_back(layer.share);
    rows.push_back({fmt::format("{:.4f}", layer.seconds * 1e3), fmt::format("{:.1f}", layer.share * 100),
                    rate(layer.flops.value_or(0), layer.seconds), rate(static_cast<double>(layer.bytes), layer.seconds),
                    layer.bound, layer.layer, how_computed(layer), join(layer.origins, ", ")});
  }
  page.table({"ms", "%", "GFLOP/s", "GB/s", "bound by", "layer", "how", "nodes"}, rows, shares);
}

void add_groups(SimplePage& page, const results::ProfileReport& report) {
  page.heading("Side by side");
  std::vector<std::string> titles;
  for (const results::ProfiledBackend& backend : report.backends) titles.push_back(backend.backend + ", ms");
  titles.emplace_back("nodes");
  std::vector<std::vector<std::string>> rows;
  for (const results::LayerGroup& group : report.groups) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const double seconds : group.seconds) {
      row.push_back(std::isnan(seconds) ? "" : fmt::format("{:.4f}", seconds * 1e3));
    }
    row.push_back(join(group.origins, ", "));
  }
  page.table(titles, rows);
}

}  // namespace

std::string profile_page(const results::ProfileReport& report, const PageFacts& facts) {
  SimplePage page({.kind = "profile", .title = report.model, .badge = {}}, facts,
                  "The machine reaches " + roof_text(report.roof) + ".");
  for (const results::ProfiledBackend& backend : report.backends) add_backend(page, backend);
  if (!report.groups.empty()) add_groups(page, report);
  if (!report.no_counters.empty()) page.paragraph(report.no_counters);
  return page.take_text();
}

}  // namespace assay::report
