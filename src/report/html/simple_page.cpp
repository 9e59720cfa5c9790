#include "report/html/simple_page.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/html/charts.h"
#include "report/html/markup.h"

namespace assay::report {
namespace {

constexpr size_t kLongestCell = 400;

}  // namespace

SimplePage::SimplePage(const PageHead& head, const PageFacts& facts, std::string_view subtitle)
    : text_(page_head(head, facts) + fmt::format("<p>{}</p>\n", escaped(subtitle))),
      version_("assay " + facts.version) {}

void SimplePage::heading(std::string_view text) { text_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }

void SimplePage::paragraph(std::string_view text) { text_ += fmt::format("<p>{}</p>\n", escaped(text)); }

void SimplePage::begin_table(const std::vector<std::string>& titles) {
  text_ += "<div class=\"card scroll\"><table class=\"sortable\"><thead><tr>";
  for (const std::string& title : titles) text_ += fmt::format("<th>{}</th>", escaped(title));
  text_ += "</tr></thead><tbody>\n";
}

void SimplePage::marked_table(const std::vector<std::string>& titles, const std::vector<std::vector<Cell>>& rows) {
  constexpr std::array<std::string_view, 3> kClasses = {"good", "bad", "open"};
  begin_table(titles);
  for (const std::vector<Cell>& row : rows) {
    text_ += "<tr>";
    for (const Cell& cell : row) {
      const std::string look = cell.mark ? fmt::format(" class=\"{}\"", kClasses[static_cast<size_t>(*cell.mark)]) : "";
      text_ += fmt::format("<td{}>{}</td>", look, escaped_start(cell.text, kLongestCell));
    }
    text_ += "</tr>\n";
  }
  text_ += "</tbody></table></div>\n";
}

void SimplePage::table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<double>& shares) {
  begin_table(titles);
  const double most = shares.empty() ? 1 : std::max(1e-12, *std::ranges::max_element(shares));
  for (size_t i = 0; i < rows.size(); ++i) {
    text_ += "<tr>";
    for (size_t k = 0; k < rows[i].size(); ++k) {
      const bool has_bar = k == 0 && !shares.empty();
      const std::string bar =
          has_bar ? fmt::format("<i style=\"width:calc({:.0f}% - 12px)\"></i>", 100 * shares[i] / most) : "";
      text_ += fmt::format("<td{}>{}{}</td>", has_bar ? " class=\"number bar\"" : "",
                           escaped_start(rows[i][k], kLongestCell), bar);
    }
    text_ += "</tr>\n";
  }
  text_ += "</tbody></table></div>\n";
}

void SimplePage::histogram(const results::Histogram& histogram, std::string_view caption) {
  text_ += "<div class=\"pictures\">" + histogram_figure(histogram, escaped(caption)) + "</div>\n";
}

std::string SimplePage::take_text() { return std::move(text_) + page_foot(version_); }

}  // namespace assay::report
