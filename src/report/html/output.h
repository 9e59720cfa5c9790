#pragma once

#include <string>
#include <string_view>

#include "results/comparison.h"

namespace assay::report {

// An output of a pair of runs, with its place on the page.
struct PageOutput {
  const results::OutputComparison* output;
  const results::PairComparison* pair;
  uint64_t iteration = 0;
  size_t place = 0;          // among the outputs of its iteration, from 1
  std::string_view op = {};  // that gives it; empty: not known
  size_t number = 0;         // the id of its section is `#o<number>`
  bool names_pair = false;   // there are several pairs
};

// Failed ones first, then by the greatest absolute difference; NaN is the greatest.
bool is_worse(const PageOutput& x, const PageOutput& y);

enum class PictureDetail : uint8_t { none, small, full };

// The section of one output: verdicts, metrics, statistics, charts.
std::string output_section(const PageOutput& item, PictureDetail pictures, bool is_open);

std::string verdict_badge(bool passed);
std::string verdict_badge(const results::OutputComparison& output);
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace assay::report
