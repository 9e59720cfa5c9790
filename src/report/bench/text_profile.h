#pragma once

#include <string>
#include <vector>

#include "results/profile_report.h"

namespace assay::report {

// The operator or tactic of a layer, and the provider where it is not the usual one: `MatMul on cpu_ep`.
std::string how_computed(const results::ProfiledLayer& layer);
// The times of a backend, a line for each layer, and a last one for all.
std::vector<std::string> profile_table(const results::ProfiledBackend& backend);
// The times of several backends for the same nodes of the model, the slowest for the first backend first.
std::vector<std::string> side_by_side(const results::ProfileReport& report);
std::string roof_text(const results::MachineRoof& roof);

}  // namespace assay::report
