#pragma once

#include <string>
#include <vector>

#include "results/runtimes.h"
#include "tasks/debug.h"

namespace assay::tasks {

// Finds the first of several environments whose library computes something else.
struct RuntimeSearchRequest {
  ModelSource model;
  std::vector<std::string> environments;  // from the oldest on
  InputRequest inputs;
  ComparisonRequest comparison;
};
// Every environment after the first bad one is taken to be bad as well.
results::RuntimeReport debug_runtimes(const RuntimeSearchRequest& request, Observer& observer);

}  // namespace assay::tasks
