#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/debug.h"
#include "results/rewrite_steps.h"

namespace assay::results {

// The report of `debug bisect`.
struct BisectionReport {
  std::string model;
  uint64_t step_count = 0;
  bool fails_before = false;   // without any step: no step is to blame
  bool is_reproduced = false;  // fails with all steps
  uint64_t step = 0;           // the first after which it fails, from 1
  std::string explanation;     // of this step
  std::string output;
  std::string good_output;
  std::vector<StepListing> steps;  // all of them
  std::vector<ReducedNode> nodes;  // of a smallest part that fails, of the model after that step
  std::string reduced;             // place at which that part is saved
  DebugLoop loop;
  std::vector<std::pair<std::string, double>> timings;
};

// A tactic of a layer that makes a plan of the engine fail, and the one that is used where it does not.
struct GuiltyTactic {
  std::string layer;
  std::string bad;
  std::string good;
};

// The report of `debug bisect` between two records of tactics.
struct TacticReport {
  std::string model;
  uint64_t different_count = 0;  // layers whose tactics differ
  bool fails_before = false;     // with the good ones
  bool is_reproduced = false;    // with the bad ones
  std::vector<GuiltyTactic> guilty;
  DebugLoop loop;
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
