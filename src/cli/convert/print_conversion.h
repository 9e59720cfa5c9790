#pragma once

#include "base/log.h"
#include "results/conversion.h"

namespace assay::cli {

// What a conversion did, what stayed and why, and what that costs; without -v only the first lines and the worst rows.
// Errors that nobody asked for are of verbose level.
void print_conversion(const results::ConversionReport& report, bool wants_errors, Log& log);

}  // namespace assay::cli
