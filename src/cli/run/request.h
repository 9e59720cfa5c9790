#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "tasks/run.h"

namespace assay::cli {

// The request made by the options of `run`; every value is checked before any work starts.
struct RunWords {
  tasks::RunRequest request;
  std::string accuracy;
  std::vector<std::string> notes = {};  // warnings about options that have no effect

  bool runs_nothing() const { return request.backends.empty() && request.saved_outputs.empty(); }
};

// `as_peer`: no backend, no iteration and nothing to compare with are requests like others.
RunWords parse_run(const Arguments& arguments, bool as_peer = false);

}  // namespace assay::cli
