#pragma once

#include "base/log.h"
#include "results/conversion.h"

namespace assay::cli {

// Prints what was converted, what was not and why, and the loss; without -v only the first lines and the worst rows.
// Losses that were not requested are printed at verbose level.
void print_conversion(const results::ConversionReport& report, bool wants_errors, Log& log);

}  // namespace assay::cli
