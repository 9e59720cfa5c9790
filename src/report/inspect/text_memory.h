#pragma once

#include <string>

#include "results/memory_needs.h"

namespace assay::report {

// Lines about the memory of a run, the first without indentation.
std::string memory_text(const results::MemoryNeeds& needs);

}  // namespace assay::report
