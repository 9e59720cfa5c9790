#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cli/edit/edit_job.h"
#include "passes/pipelines.h"

namespace assay::cli {

// Which passes run, and how far: options that all commands share which rewrite models.
OptionGroup pass_group();

struct PassRequest {
  bool cleans = false;  // what nothing needs goes
  bool sorts = false;
  bool folds = false;
  uint64_t most_fold_rounds = std::numeric_limits<uint64_t>::max();
  bool simplifies = false;
  bool fuses = false;
  std::vector<std::string> passes;  // asked for by name, run last
  passes::Options options;
  uint64_t last_step = std::numeric_limits<uint64_t>::max();
  bool explains = false;
};

// What pass_group's options ask for. Error (usage) for unknown passes.
PassRequest pass_request(const Arguments& arguments);

// Runs the passes on the job's model, with a line for each round of folding, and says what was done: in the report, and
// with `--explain` each step as a line.
void run_passes(const PassRequest& request, EditJob& job);

}  // namespace assay::cli
