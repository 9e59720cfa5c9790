#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/debug.h"

namespace assay::cli {

// The words of a command of `debug` for judging its iterations and keeping their files.
struct CheckWords {
  bool replays = false;       // judgements can be saved and loaded
  std::string_view artifact;  // the default name of the file that is judged; empty: there is none
  bool has_until = false;
  bool has_jobs = false;
};
// Groups for checks. The last row takes the rest of the command line, so it must be the last group of a command.
std::vector<OptionGroup> check_groups(const CheckWords& words);
// Every value is checked. Without a command the user is asked.
tasks::CheckRequest check_request(const Arguments& arguments, Environment& environment);
// The replays, where another thing decides.
tasks::CheckRequest replay_request(const Arguments& arguments);
tasks::Until parse_until(const Arguments& arguments);

}  // namespace assay::cli
