#pragma once

#include <map>
#include <string>

#include "exec/drive.h"

namespace assay::calibrate {

// The greatest magnitude among the finite numbers of a value, over all inputs of a model, by the value's name.
using Magnitudes = std::map<std::string, float, std::less<>>;

// The greatest magnitude among the finite numbers of packed float32, which may be at any address; 0 if there are none.
float largest_finite(tensor::Bytes floats);

// Runs a model over all inputs of `source` and looks at its inputs and at the float32 values that `taps` names. Throws
// the Error of the backend if it fails.
Magnitudes measure_magnitudes(const exec::RunnerPtr& runner, exec::DataSource& source, const exec::TapPlan& taps,
                              Diagnostics& findings);

}  // namespace assay::calibrate
