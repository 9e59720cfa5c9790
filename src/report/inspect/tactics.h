#pragma once

#include <string>
#include <vector>

#include "results/tactics.h"

namespace assay::report {

// Each layer and its tactic, as the peer prints them.
std::string tactics_text(const results::RecordedTactics& tactics);

// The tactics that only bad engines have, as the peer prints them.
std::vector<std::string> tactic_diff_lines(const results::TacticDiff& diff);

}  // namespace assay::report
