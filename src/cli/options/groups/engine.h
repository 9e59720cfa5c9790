#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/load.h"

namespace assay::cli {

// Options for saved engines, or for TensorFlow. There are neither: the options are recognised so that they can be
// refused with a reason.
OptionGroup engine_view_group();
// The same for options that build or run an engine.
OptionGroup engine_run_group();
// The same, without options that also apply to a conversion to ONNX.
OptionGroup engine_convert_group();

// Error (unsupported) if an option of the group was given.
void refuse_absent_options(const OptionGroup& group, const Arguments& arguments);

// Why.
using tasks::kNoEngine;
using tasks::kNoTensorFlow;

}  // namespace assay::cli
