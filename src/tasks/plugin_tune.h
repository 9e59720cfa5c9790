#pragma once

#include <string>

#include "tasks/plugin.h"
#include "tasks/tune.h"

namespace assay::tasks {

// Tries replacements of subgraphs by plugins, each place on its own, with choices of the engine beside them.
struct AutotuneRequest {
  TuneRequest tune;      // with the knobs of the engine; the others are added
  PluginSearch plugins;  // whose places are found
  std::string config;    // or a file that match_plugins wrote, in place of a search
  bool infers = false;
  std::string output;  // gets the model with the replacements of the best; empty: none
};

// Error (usage): no plugin has a place, and no choice of the engine is varied.
results::Tuning autotune_plugins(AutotuneRequest request, Observer& observer);

}  // namespace assay::tasks
