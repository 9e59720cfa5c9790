#pragma once

#include <string>
#include <vector>

#include "passes/quantize/qdq_options.h"
#include "tasks/convert/measurement.h"

namespace assay::tasks {

// Ranges of a model's values, and how they were found.
struct RangeCandidate {
  std::string name;
  passes::ValueRanges ranges;
};

// Of several candidates, which know the same values: each value takes the range that costs the layers that work on it
// least; of this mixture and the candidates the one is chosen with which the model's outputs lose least. Errors of the
// backend.
RangeCandidate choose_ranges(Measurement& measurement, const passes::QdqOptions& options,
                             std::vector<RangeCandidate> candidates, Observer& observer);

}  // namespace assay::tasks
