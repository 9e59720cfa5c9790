#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/run/request.h"
#include "results/run_report.h"

namespace assay::cli {

struct RunOutcome {
  results::RunReport report;
  std::optional<Error> save_failure;     // of --save-inputs, --save-outputs or pictures
  std::vector<std::string> graph_order;  // names of the values that were asked for
};

// All that one call of `run` does between its request and its report.
RunOutcome run_job(const RunRequest& request, const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
