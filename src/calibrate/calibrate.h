#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/range.h"
#include "exec/drive.h"

namespace assay::calibrate {

// Rules for the numbers of a value that are worth telling apart.
enum class Calibration : uint8_t { minmax, entropy, percentile, mse };
std::string_view name(Calibration calibration);

struct CalibrationOptions {
  exec::TapPlan taps;                        // values that are to be looked at and are no inputs
  std::set<std::string, std::less<>> names;  // these, and inputs
  std::vector<Calibration> calibrations = {Calibration::mse};
  double quantile = 0.9999;  // of percentile: the share of the magnitudes that is kept
};

// Runs a model over all inputs of `source`, one set at a time, and gives the range of each float32 value that is named,
// by each of the calibrations. Error of the backend if it fails, (usage) for a number that is NaN or infinite, with the
// value and the set of inputs.
std::vector<Ranges> calibrate(const exec::RunnerPtr& runner, exec::DataSource& source,
                              const CalibrationOptions& options, Diagnostics& findings);

}  // namespace assay::calibrate
