#pragma once

#include <string>
#include <vector>

#include "convert/measure/measurement.h"
#include "convert/quantize/qdq_options.h"

namespace assay::convert {

// Ranges of a model's values, and how they were found.
struct RangeCandidate {
  std::string name;
  calibrate::Ranges ranges;
  bool may_measure = false;  // on the same inputs, what else is to be chosen
};

// Ranges that are to be measured: of these values, by each of the calibrations.
struct RangeRequest {
  std::vector<std::string> names;
  std::vector<calibrate::Calibration> calibrations;
  double quantile = 0.9999;  // of percentile
  calibrate::Ranges known;   // of other values
};

// Measures the ranges by each calibration and chooses as choose_ranges does; the known ones are among the result.
// Errors of the backend.
RangeCandidate measure_ranges(Measurement& measurement, const QdqOptions& options, const RangeRequest& request,
                              MeasuringHost& host);
// All candidates have the same values. Each value gets the range with the least loss in the layers that use it; of this
// mixture and the candidates, the one with the least loss in the model's outputs is returned. Errors of the backend.
RangeCandidate choose_ranges(Measurement& measurement, const QdqOptions& options,
                             std::vector<RangeCandidate> candidates, MeasuringHost& host);

}  // namespace assay::convert
