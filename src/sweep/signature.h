#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "results/sweep.h"

namespace assay::sweep {

// A sentence without what differs from model to model: names in backticks, numbers, paths.
std::string signature(std::string_view line);

// The class of a failure.
results::UnitStatus status_of(const Error& error);

}  // namespace assay::sweep
