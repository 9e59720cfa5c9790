#pragma once

#include <string>

#include "results/model_diff.h"

namespace assay::report {

// The differences, block by block; empty if there are none. Long blocks are cut.
std::string diff_text(const results::ModelDiff& diff);
// The last line: `Models are equal`, or how many differences there are of each kind.
std::string diff_verdict(const results::ModelDiff& diff);

}  // namespace assay::report
