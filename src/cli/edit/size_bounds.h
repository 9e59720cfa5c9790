#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/edit/edit_job.h"

namespace assay::cli {

// `[NAME:]N`: the most that a value may be which decides how large a result becomes.
struct SizeBoundWord {
  std::string name;  // empty: of all such values that are not named
  int64_t bound = 0;
};

std::vector<SizeBoundWord> parse_size_bounds(std::span<const std::string> words);
// Finds the values and bounds them. A named value that needs no bound gets one, with a warning; sizes that are open and
// have no bound are listed as skipped.
void bound_sizes(std::span<const SizeBoundWord> words, EditJob& job);

}  // namespace assay::cli
