#include "report/inspect/text_data.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "report/run/text_stats.h"

namespace assay::report {
namespace {

using results::ListedArray;
using results::ListedIteration;
using results::ListedRun;

std::string indented(std::string_view text) { return "    " + indent_continuation(text, 4); }

// The peer prints a heading, an empty line, or a word.
std::string histogram_block(const ListedArray& array) {
  if (array.is_boolean) return "";
  if (array.stats->count == 0) return "None";
  if (!array.stats->histogram) return "";
  return "---- Histogram ----\n" + histogram_text(*array.stats->histogram);
}

std::string array_block(const ListedArray& array, bool with_histogram) {
  const std::string slice = array.slice.empty() ? "" : "[" + array.slice + "]";
  std::string text =
      fmt::format("\n{}{} [dtype={}, shape={}]", printable(array.name), slice, array.dtype, tuple_text(array.shape));
  if (array.stats) text += " | Stats: " + stats_text(*array.stats, array.is_boolean);
  for (const auto& [percent, value] : array.percentiles) text += fmt::format(", p{:g}={:.5g}", percent, value);
  if (with_histogram && array.stats) text += "\n" + indented(histogram_block(array));
  if (array.values) text += "\n" + indented(*array.values);
  return text;
}

std::string run_block(const ListedRun& run, bool with_histogram) {
  std::string text;
  for (const ListedIteration& iteration : run.iterations) {
    std::string arrays;
    const bool is_one_of_many = run.iterations.size() > 1;
    for (const ListedArray& array : iteration.arrays) {
      const std::string block = array_block(array, with_histogram);
      arrays += is_one_of_many ? indented(block) : block;
    }
    text += is_one_of_many ? fmt::format("\n-- Iteration: {}{}\n", iteration.number, arrays) : arrays;
  }
  return text;
}

}  // namespace

std::string data_text(const results::DataListing& listing, bool with_histogram) {
  std::string text;
  if (!listing.has_runners) {
    text = fmt::format("==== Data ({} iterations) ====\n", listing.runs[0].iteration_count);
    text += run_block(listing.runs[0], with_histogram);
  } else {
    text = fmt::format("==== Run Results ({} runners) ====\n", listing.runs.size());
    size_t width = 0;
    for (const ListedRun& run : listing.runs) width = std::max(width, printable(run.runner).size());
    for (const ListedRun& run : listing.runs) {
      text += fmt::format("\n---- {:<{}} ({} iterations) ----\n", printable(run.runner), width, run.iteration_count);
      text += run_block(run, with_histogram);
    }
  }
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

}  // namespace assay::report
