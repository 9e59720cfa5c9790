#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

// A page of tables that needs no network. Titles, captions and cells are plain text.
class SimplePage {
 public:
  SimplePage(std::string_view title, std::string_view subtitle);

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // The first column may have bars: the share of each row, from 0 to 1; empty: none.
  void table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
             const std::vector<double>& shares = {});
  // Bars that stand side by side, as of a histogram; the labels belong to the ends.
  void bars(const std::vector<double>& heights, std::string_view first, std::string_view last);
  // Call once, at the end.
  std::string take_text();

 private:
  std::string text_;
};

}  // namespace assay::report
