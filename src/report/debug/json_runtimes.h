#pragma once

#include <string>

#include "results/runtimes.h"

namespace assay::report {

std::string runtimes_json(const results::RuntimeReport& report);

}  // namespace assay::report
