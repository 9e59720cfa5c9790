#pragma once

#include <string>
#include <vector>

#include "exec/settings.h"

namespace assay::tasks {

// Roundoff of the narrowest type in which these backends may compute under these settings instead of the declared
// ones; 0 if they keep to these.
double permitted_roundoff(const std::vector<std::string>& backends, const exec::Settings& settings);

}  // namespace assay::tasks
