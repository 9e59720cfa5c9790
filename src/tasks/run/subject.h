#pragma once

#include "tasks/run.h"
#include "tasks/run/taps.h"

namespace assay::tasks {

// Subject of live runs: a model or a plan, as it is run, and the values that are asked for.
struct RunSubject {
  std::optional<LoadedModel> loaded;  // nullopt: only saved outputs are compared
  bool is_plan = false;
  std::map<size_t, std::string> plans;  // by number of the side, as in the request
  exec::SessionOptions session;
  InputRequest inputs;
  Taps taps;
  Diagnostics own_findings;  // if nothing is loaded

  Diagnostics& findings() { return loaded ? loaded->findings : own_findings; }
};

// Loads what the request names, and saves the model where that is wanted. Error for a model that cannot be run, or for
// a plan beside what needs a model.
RunSubject open_subject(const RunRequest& request, Observer& observer);

}  // namespace assay::tasks
