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

// All candidates have the same values. Each value gets the range with the least loss in the layers that use it; of this
// mixture and the candidates, the one with the least loss in the model's outputs is returned. Errors of the backend.
RangeCandidate choose_ranges(Measurement& measurement, const QdqOptions& options,
                             std::vector<RangeCandidate> candidates, MeasuringHost& host);

}  // namespace assay::convert
