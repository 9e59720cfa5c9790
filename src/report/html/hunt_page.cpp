#include "report/html/hunt_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/debug/text_culprit.h"
#include "report/html/markup.h"

namespace assay::report {
namespace {

constexpr size_t kMostRows = 5000;
constexpr size_t kMostCulprits = 20;

bool is_guilty(const results::AccuracyHunt& hunt, const results::LayerVerdict& layer) {
  return std::ranges::any_of(hunt.culprits, [&](const results::Culprit& culprit) {
    return culprit.error.node == layer.node && culprit.error.side == layer.side;
  });
}

std::string row(const results::AccuracyHunt& hunt, size_t number) {
  const results::LayerVerdict& layer = hunt.layers[number];
  const auto cell = [](double value) { return fmt::format("<td class=\"number\">{:.4g}</td>", value); };
  return fmt::format(
             "<tr id=\"l{}\"{}><td class=\"number\">{}</td><td class=\"name mono\">{}</td><td>{}</td>"
             "<td class=\"mono\">{}</td><td class=\"soft\">{}</td>",
             number, is_guilty(hunt, layer) ? " class=\"failed\"" : "", layer.index, escaped_start(layer.node, 200),
             escaped_start(layer.op, 60), escaped_start(layer.value, 200), escaped_start(layer.side, 60)) +
         cell(layer.introduced) + cell(layer.inherited) + cell(layer.tolerance) + cell(layer.excess) +
         fmt::format("<td>{}</td></tr>\n", is_guilty(hunt, layer) ? badge("GUILTY", Mark::bad) : "");
}

std::string notes(const std::vector<std::string>& lines, bool is_fault = false) {
  std::string text;
  for (const std::string& line : lines) text += note(escaped_start(line, 2000), is_fault);
  return text;
}

std::string paragraphs(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("<p class=\"soft\">{}</p>\n", escaped_start(line, 2000));
  return text;
}

// The sentence that the page is for, with the way to the row.
std::string hero(const results::AccuracyHunt& hunt) {
  if (hunt.culprits.empty()) return {};
  const results::Culprit& first = hunt.culprits.front();
  const auto found = std::ranges::find_if(hunt.layers, [&](const results::LayerVerdict& layer) {
    return layer.node == first.error.node && layer.side == first.error.side;
  });
  const std::string name = fmt::format("<code>{}</code>", escaped_start(first.error.node, 200));
  const auto number = static_cast<size_t>(found - hunt.layers.begin());
  return note(fmt::format("<b>{}</b> ({}) of {} introduces the error: {}",
                          number < std::min(hunt.layers.size(), kMostRows)
                              ? fmt::format("<a href=\"#l{}\">{}</a>", number, name)
                              : name,
                          escaped_start(first.error.op, 60), escaped_start(first.error.side, 60),
                          escaped_start(first.reason, 1000)),
              true);
}

}  // namespace

std::string hunt_page(const results::AccuracyHunt& hunt, const PageFacts& facts) {
  PageHead head{.kind = "debug accuracy", .title = hunt.model, .badge = "UNDECIDED"};
  if (!hunt.culprits.empty()) {
    head.badge = "GUILTY";
    head.mark = Mark::bad;
  } else if (hunt.doubt.empty()) {
    head.badge = "CLEAN";
    head.mark = Mark::good;
  }
  std::string text = page_head(head, facts) + hero(hunt);
  if (!facts.hint.empty()) text += note(escaped_start(facts.hint, 2000));
  if (!hunt.doubt.empty()) text += note(escaped_start(hunt.doubt, 2000));
  text += paragraphs(side_lines(hunt)) + notes(culprit_lines(hunt, kMostCulprits)) +
          notes(harmless_lines(hunt, kMostCulprits)) + paragraphs(cost_lines(hunt));
  text +=
      "<h2>Layers</h2>\n<div class=\"card scroll\"><table class=\"sortable\"><thead><tr><th class=\"number\">#</th>"
      "<th>layer</th><th>operator</th><th>value</th><th>side</th><th class=\"number\">introduced</th>"
      "<th class=\"number\">inherited</th><th class=\"number\">may introduce</th>"
      "<th class=\"number\">share of that</th><th></th></tr></thead><tbody>\n";
  const size_t shown = std::min(hunt.layers.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) text += row(hunt, i);
  text += "</tbody></table></div>\n";
  if (shown < hunt.layers.size()) text += note(fmt::format("{} more are left out.", hunt.layers.size() - shown));
  return text + page_foot("assay " + facts.version);
}

}  // namespace assay::report
