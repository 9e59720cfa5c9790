#include "report/html/hunt_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/debug/text_culprit.h"
#include "report/html/markup.h"

namespace assay::report {

std::string_view page_css();

namespace {

constexpr size_t kMostRows = 5000;

// From green, far below what may be, over yellow to red, beyond it.
std::string colour(double excess) {
  if (!(excess > 0)) return "#e8f5e9";
  const double place = std::isinf(excess) ? 1 : std::clamp((std::log10(excess) + 3) / 4, 0.0, 1.0);
  return fmt::format("hsl({:.0f} 75% 80%)", 120 * (1 - place));
}

std::string row(const results::LayerVerdict& layer) {
  return fmt::format(
      "<tr style=\"background:{}\"><td>{}</td><td class=\"mono\">{}</td><td>{}</td><td>{}</td>"
      "<td>{:.4g}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:.3g}</td></tr>\n",
      colour(layer.excess), layer.index, escaped_start(layer.node, 200), escaped_start(layer.op, 60),
      escaped_start(layer.side, 60), layer.introduced, layer.inherited, layer.tolerance, layer.excess);
}

std::string paragraphs(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("<p>{}</p>\n", escaped_start(line, 2000));
  return text;
}

}  // namespace

std::string hunt_page(const results::AccuracyHunt& hunt, const PageFacts& facts) {
  const std::string verdict = !hunt.culprits.empty() ? "guilty layers found"
                              : hunt.doubt.empty()   ? "clean"
                                                     : "undecided";
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
      "<style>\n{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p class=\"mono\">{2}</p>\n",
      escaped(fmt::format("{}: {}", hunt.model, verdict)), page_css(), escaped(facts.command));
  text += paragraphs(side_lines(hunt)) + paragraphs(culprit_lines(hunt, 20)) + paragraphs(harmless_lines(hunt, 20)) +
          paragraphs(cost_lines(hunt));
  if (!hunt.doubt.empty()) text += fmt::format("<p>{}</p>\n", escaped(hunt.doubt));
  text +=
      "<h2>Layers</h2>\n<div class=\"card scroll\"><table><thead><tr><th>#</th><th>layer</th><th>operator</th>"
      "<th>side</th><th>introduced</th><th>inherited</th><th>may introduce</th><th>share of that</th></tr></thead>"
      "<tbody>\n";
  for (size_t i = 0; i < std::min(hunt.layers.size(), kMostRows); ++i) text += row(hunt.layers[i]);
  text += "</tbody></table></div>\n";
  if (hunt.layers.size() > kMostRows)
    text += fmt::format("<p>{} more are left out.</p>\n", hunt.layers.size() - kMostRows);
  return text + fmt::format("<footer>assay {}</footer>\n</main>\n</body>\n</html>\n", escaped(facts.version));
}

}  // namespace assay::report
