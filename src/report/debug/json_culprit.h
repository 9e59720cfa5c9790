#pragma once

#include <string>

#include "results/culprit.h"

namespace assay::report {

// `assay/debug-accuracy/1`.
std::string accuracy_hunt_json(const results::AccuracyHunt& hunt);

}  // namespace assay::report
