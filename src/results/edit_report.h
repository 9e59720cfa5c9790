#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/rewrite_steps.h"

namespace assay::results {

// One thing that was done to a model, or that was asked for and not done.
struct Change {
  std::string action;  // a stable word: `fold`, `prune`, `strip`, ...
  std::string name;    // of the node, tensor or value
  std::string detail;  // change, or reason for none
};

struct ModelSize {
  uint64_t nodes = 0;  // of all graphs and functions
  uint64_t initializers = 0;
  uint64_t initializer_bytes = 0;
};

// The result of a command for a model.
struct EditReport {
  std::string command;  // `surgeon extract`
  std::string model;
  std::string output;
  std::vector<std::string> outputs;  // set if there are several files, `output` among them
  ModelSize before;
  ModelSize after;
  std::vector<Change> changes;
  std::vector<Change> skipped;
  std::vector<StepListing> steps;  // if they were wanted
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
