#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/html/frame.h"
#include "results/tensor_stats.h"

namespace assay::report {

// A page of tables that needs no network. Titles, captions and cells are plain text.
class SimplePage {
 public:
  SimplePage(const PageHead& head, const PageFacts& facts, std::string_view subtitle);

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // The first column may have bars: the share of each row, from 0 to 1; empty: none.
  void table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
             const std::vector<double>& shares = {});
  // A cell's text and colour, as for a verdict.
  struct Cell {
    std::string text;
    std::optional<Mark> mark = {};
  };
  void marked_table(const std::vector<std::string>& titles, const std::vector<std::vector<Cell>>& rows);
  void histogram(const results::Histogram& histogram, std::string_view caption);
  // Call once, at the end.
  std::string take_text();

 private:
  void begin_table(const std::vector<std::string>& titles);
  std::string text_;
  std::string version_;
};

}  // namespace assay::report
