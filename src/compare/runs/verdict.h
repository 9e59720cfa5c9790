#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/run_report.h"

namespace assay::compare {

// Equal: all iterations of the pair agree, and both sides have the same number. Undecided: nothing was compared.
results::Verdict verdict(const results::PairComparison& pair);
// The verdict on all pairs, which are those of runners that did not fail, and validated outputs: one that differs
// decides, then one that is undecided, also by a runner's failure.
results::Verdict verdict(const results::RunReport& report);
// The first value in the order of the graph that is beyond its tolerance: there, or just before, the error comes in.
std::optional<std::string> first_failed(const results::PairComparison& pair, const std::vector<std::string>& order);

}  // namespace assay::compare
