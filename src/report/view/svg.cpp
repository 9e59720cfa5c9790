#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/html/markup.h"
#include "report/view/page.h"

namespace assay::report {
namespace {

constexpr float kMargin = 24;
constexpr size_t kMostLabel = 28;
constexpr std::string_view kFills[] = {"#eef2f8", "#ffffff", "#e6f4ea", "#fdeeda", "#f3ecfa", "#e3ecf7"};  // by kind

std::string label_of(const results::Scene& scene, uint32_t item) {
  const uint16_t op = scene.items.operators[item];
  const std::string_view text = op == results::kNoOperator ? scene.items.names[item] : scene.operators[op];
  return escaped_start(text, kMostLabel);
}

std::string box_svg(const results::Scene& scene, uint32_t item) {
  const results::SceneItems& items = scene.items;
  const float x = items.x[item] + kMargin;
  const float y = items.y[item] + kMargin;
  return fmt::format(
      "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\" fill=\"{}\" "
      "stroke=\"#7a8aa0\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
      escaped(items.names[item]), x, y, items.widths[item], items.heights[item],
      kFills[std::min<size_t>(items.kinds[item], std::size(kFills) - 1)], x + items.widths[item] / 2,
      y + items.heights[item] / 2 + 4, label_of(scene, item));
}

// From the bottom of one box over the bends to the top of another.
std::string line_svg(const results::Scene& scene, size_t line) {
  const results::SceneItems& items = scene.items;
  const results::SceneLines& lines = scene.lines;
  std::string path;
  const auto add = [&](float x, float y) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x + kMargin, y + kMargin);
  };
  const uint32_t from = lines.from[line];
  const uint32_t to = lines.to[line];
  if (from != results::kNoItem) add(items.x[from] + items.widths[from] / 2, items.y[from] + items.heights[from]);
  for (uint32_t i = 0; i < lines.bend_counts[line]; ++i) {
    add(lines.bends_x[lines.bend_starts[line] + i], lines.bends_y[lines.bend_starts[line] + i]);
  }
  if (to != results::kNoItem) add(items.x[to] + items.widths[to] / 2, items.y[to]);
  return fmt::format("<path d=\"{}\"/>\n", path);
}

}  // namespace

std::string scene_svg(const results::Scene& scene) {
  const results::SceneItems& items = scene.items;
  const uint32_t first = items.first_children[0];
  const uint32_t end = first + items.child_counts[0];
  const auto is_shown = [&](uint32_t item) { return item >= first && item < end; };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"DejaVu Sans, sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<g fill=\"none\" stroke=\"#9aa7b8\">\n",
      std::ceil(items.content_widths[0]) + 2 * kMargin, std::ceil(items.content_heights[0]) + 2 * kMargin,
      escaped(scene.file.substr(scene.file.rfind('/') + 1)));
  for (size_t line = 0; line < scene.lines.values.size(); ++line) {
    const bool is_rail = scene.rails[scene.lines.values[line]] != 0;
    if (!is_rail && (is_shown(scene.lines.from[line]) || is_shown(scene.lines.to[line]))) text += line_svg(scene, line);
  }
  text += "</g>\n<g fill=\"#1d2733\">\n";
  for (uint32_t item = first; item < end; ++item) text += box_svg(scene, item);
  return text + "</g>\n</svg>\n";
}

}  // namespace assay::report
