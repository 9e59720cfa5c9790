#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// Options that show a model as the built-in engine, or TensorFlow, sees it. This build has neither: they are recognised
// so that they can be refused with a reason.
OptionGroup engine_view_group();

// Error (unsupported) if any of them was given.
void refuse_engine_options(const Arguments& arguments);

}  // namespace assay::cli
