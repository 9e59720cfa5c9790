#pragma once

#include <string>

#include "results/sparsity.h"

namespace assay::report {

// One JSON object of the schema assay/inspect-sparsity/1.
std::string sparsity_json(const results::SparsityReport& report);

}  // namespace assay::report
