#pragma once

#include "results/value_ranges.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Finds the numbers that the values of a model are in a run of the reference in float64, and which of them narrower
// types hold.
struct RangeRequest {
  ModelSource model;
  InputRequest inputs;     // the first set is used
  bool is_static = false;  // by interval arithmetic, without a run; generated inputs are known by their ranges
  uint64_t max_memory_bytes = 0;
  unsigned threads = 0;
};
results::RangeReport debug_range(const RangeRequest& request, Observer& observer);

}  // namespace assay::tasks
