#pragma once

#include <string>
#include <vector>

#include "results/profile_report.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Measures each layer of a model on backends, beside what the machine reaches at best.
struct ProfileRequest {
  ModelSource model;                  // or a plan of the engine
  std::vector<std::string> backends;  // none: the engine
  exec::SessionOptions session;
  InputRequest inputs;       // the first set is run
  uint64_t runs = 20;        // of each backend, at least one
  double seconds = 5;        // that the runs of a backend may take
  bool is_marginal = false;  // of layers on a device besides the processor: what each adds to a run
};

// Error (usage) for contradictory settings, before anything is read; profile() calls this first.
void check_profile(const ProfileRequest& request);
// Error if the model or its inputs are wrong. The failure of a backend is in the report.
results::ProfileReport profile(ProfileRequest request, Observer& observer);

}  // namespace assay::tasks
