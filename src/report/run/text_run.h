#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/run_report.h"

namespace assay::report {

// `{x [dtype=float32, shape=(1, 3)],` and so on, one value per line; the first `most`, and how many more
// there are with `hint`, which says how they are seen.
std::string values_text(const std::vector<results::RunValue>& values, size_t most, std::string_view hint);

// ``h`: absent, part of layer `L` (fused)`, one value per line; the first `most`, as above.
std::string answers_text(const std::vector<results::ValueAnswer>& answers, size_t most, std::string_view hint);

// The nodes by provider: `cpu_ep: 2 node(s)`, then ``  MatMul `mm` ``, one node per line.
std::string assignment_text(const std::vector<results::AssignedNode>& nodes);

}  // namespace assay::report
