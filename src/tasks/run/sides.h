#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exec/runner.h"
#include "tasks/run/subject.h"

namespace assay::tasks {

// The runs that are compared: one for each backend, then what was saved.
struct Sides {
  std::shared_ptr<RunSubject> subject;  // runners refer to these
  std::vector<exec::RunnerPtr> runners;
  std::set<std::string, std::less<>> outputs;  // names that somebody has
};

// Loads saved outputs. Backends are prepared when their runners are opened. Error (usage) if there is nothing to
// compare.
Sides open_sides(const RunRequest& request, std::shared_ptr<RunSubject> subject, Observer& observer);

}  // namespace assay::tasks
