#pragma once

#include "cli/options/arguments.h"

namespace assay::cli {

// Before long work begins: Error (io) for a file of the command that could not be written when it ends.
void require_writable_outputs(const Arguments& arguments);

}  // namespace assay::cli
