#pragma once

#include <map>
#include <string>

#include "exec/drive.h"

namespace assay::quantize {

// The greatest magnitude among the finite numbers of a value, over all inputs of a model, by the value's name.
using Ranges = std::map<std::string, float, std::less<>>;

// Runs a model over all inputs of `source` and looks at its inputs and at the float32 values that `taps` names. Throws
// the Error of the backend if it fails.
Ranges measure_ranges(const exec::RunnerPtr& runner, exec::DataSource& source, const exec::TapPlan& taps,
                      Diagnostics& findings);

}  // namespace assay::quantize
