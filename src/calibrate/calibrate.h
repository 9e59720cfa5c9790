#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/histogram.h"
#include "calibrate/range.h"
#include "exec/drive.h"

namespace assay::calibrate {

// Rules for the numbers of a value that are worth telling apart.
enum class Calibration : uint8_t { minmax, entropy, percentile, mse };
std::string_view name(Calibration calibration);

struct CalibrationOptions {
  exec::TapPlan taps;                        // values that are to be looked at and are no inputs
  std::set<std::string, std::less<>> names;  // these, and inputs
  bool wants_histograms = true;              // minmax needs none
};

// The numbers of a value.
struct Distribution {
  Range range;
  Histogram histogram;
  void add(const Distribution& other);
};
using Statistics = std::map<std::string, Distribution, std::less<>>;  // by the value's name

// Runs a model over all inputs of `source`, one set at a time, and gives the distribution of each float32 value that is
// named. Those of parts of the inputs add up to that of all. Error of the backend if it fails, (usage) for a number
// that is NaN or infinite, with the value and the set of inputs.
Statistics calibrate(const exec::RunnerPtr& runner, exec::DataSource& source, const CalibrationOptions& options,
                     Diagnostics& findings);

// `quantile` is of percentile: the share of the magnitudes that is kept.
Ranges ranges_of(const Statistics& statistics, Calibration calibration, double quantile);

}  // namespace assay::calibrate
