#pragma once

#include "exec/session.h"
#include "results/same.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Runs a model again and again on the same inputs, and once more each with 1, 2 and 3 threads, and compares the bits of
// all values.
struct SameRequest {
  ModelSource model;
  InputRequest inputs;
  std::string backend;
  exec::SessionOptions session;
  uint64_t runs = 2;
  bool isolate = false;  // the backend in a process of its own
};
results::SameReport debug_same(const SameRequest& request, Observer& observer);

}  // namespace assay::tasks
