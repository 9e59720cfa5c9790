#include "report/bench/text_tuning.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

std::string name_of(const results::TunedRoute& route) {
  return route.route.empty() ? "defaults" : printable(route.route);
}

std::string times_text(const results::TunedRoute& route) {
  if (route.median_seconds <= 0) return fmt::format("{:>10}{:>26}", "-", "");
  std::string text = fmt::format("{:>10.4f}", route.median_seconds * 1e3);
  if (!route.ratio) return text + fmt::format("{:>8}{:>18}", "", "");
  const auto& interval = route.ratio->medians_interval;
  return text + fmt::format("{:>8.3f}{:>18}", route.ratio->of_medians,
                            interval ? fmt::format("({:.3f} to {:.3f})", interval->low, interval->high) : "");
}

std::string loss_text(const results::Tuning& tuning, const results::TunedRoute& route) {
  if (tuning.loss_function.empty()) return "";
  return fmt::format("{:>12}{}", route.loss ? fmt::format("{:.3g}", *route.loss) : "-", route.is_accurate ? " " : "!");
}

}  // namespace

std::vector<std::string> tuning_lines(const results::Tuning& tuning) {
  const bool has_loss = !tuning.loss_function.empty();
  std::vector<std::string> lines = {
      fmt::format("{:>10}{:>8}{:>18}{}  Route", "Median(ms)", "Ratio", "95%",
                  has_loss ? fmt::format("{:>13}", "Loss(" + tuning.loss_function + ")") : "")};
  for (const results::TunedRoute& route : tuning.routes) {
    if (route.failure.empty())
      lines.push_back(times_text(route) + loss_text(tuning, route) + "  " + name_of(route));
    else
      lines.push_back(fmt::format("{:>10}  {}: {}", "failed", name_of(route), printable(route.failure)));
  }
  if (has_loss) {
    lines.push_back(
        fmt::format("! marks routes whose loss is {:g} or more, which are not chosen", tuning.loss_threshold));
  }
  if (!tuning.is_complete) lines.emplace_back("The time was over before all routes were tried");
  if (!tuning.best) {
    lines.emplace_back("Best route: the defaults; none is faster beyond its interval");
    return lines;
  }
  const results::TunedRoute& best = tuning.routes[*tuning.best];
  lines.push_back(fmt::format("Best route: {}, {:.3f} times the defaults", name_of(best), best.ratio->of_medians));
  return lines;
}

}  // namespace assay::report
