#include "report/html/simple_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/html/markup.h"

namespace assay::report {

std::string_view page_css();  // of page.css

namespace {

constexpr size_t kBarPixels = 120;
constexpr double kBarsHeight = 90;  // pixels

}  // namespace

SimplePage::SimplePage(std::string_view title, std::string_view subtitle)
    : text_(fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
                        "<style>\n{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p>{2}</p>\n",
                        escaped(title), page_css(), escaped(subtitle))) {}

void SimplePage::heading(std::string_view text) { text_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }

void SimplePage::paragraph(std::string_view text) { text_ += fmt::format("<p>{}</p>\n", escaped(text)); }

void SimplePage::table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<double>& shares) {
  text_ += "<table>\n<tr>";
  if (!shares.empty()) text_ += "<th></th>";
  for (const std::string& title : titles) text_ += fmt::format("<th>{}</th>", escaped(title));
  text_ += "</tr>\n";
  const double most = shares.empty() ? 1 : std::max(1e-12, *std::ranges::max_element(shares));
  for (size_t i = 0; i < rows.size(); ++i) {
    text_ += "<tr>";
    if (!shares.empty()) {
      text_ += fmt::format("<td><div style=\"background:#4a7bd0;height:0.8em;width:{:.0f}px\"></div></td>",
                           shares[i] / most * kBarPixels);
    }
    for (const std::string& cell : rows[i]) text_ += fmt::format("<td>{}</td>", escaped(cell));
    text_ += "</tr>\n";
  }
  text_ += "</table>\n";
}

void SimplePage::bars(const std::vector<double>& heights, std::string_view first, std::string_view last) {
  if (heights.empty()) return;
  const double most = std::max(1e-12, *std::ranges::max_element(heights));
  const double width = 600.0 / static_cast<double>(heights.size());
  text_ += fmt::format("<svg width=\"600\" height=\"{:.0f}\" role=\"img\">", kBarsHeight);
  for (size_t i = 0; i < heights.size(); ++i) {
    const double height = heights[i] / most * kBarsHeight;
    text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#4a7bd0\"/>",
                         static_cast<double>(i) * width, kBarsHeight - height, std::max(1.0, width - 1), height);
  }
  text_ += fmt::format("</svg>\n<p>{} … {}</p>\n", escaped(first), escaped(last));
}

std::string SimplePage::take_text() { return std::move(text_) + "</main>\n</body>\n</html>\n"; }

}  // namespace assay::report
