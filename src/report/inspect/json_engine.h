#pragma once

#include <string>

#include "results/engine_listing.h"

namespace assay::report {

// One object of the schema assay/inspect-model/1, whose `kind` is `engine`.
std::string engine_json(const results::EngineListing& listing);

}  // namespace assay::report
