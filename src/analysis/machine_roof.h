#pragma once

#include "results/profile_report.h"

namespace assay::analysis {

// Measures what the threads of the caller's pool reach: multiply-adds in registers, and copies of large memory.
results::MachineRoof measure_roof();

}  // namespace assay::analysis
