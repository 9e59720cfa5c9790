#pragma once

#include <string>

#include "results/conversion.h"

namespace assay::report {

// One JSON object of the schema assay/convert/1.
std::string conversion_json(const results::ConversionReport& report);

}  // namespace assay::report
