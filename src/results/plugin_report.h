#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/plugin_matches.h"

namespace assay::results {

// The places of plugins in a model.
struct PluginReport {
  std::string command;  // `plugin list`
  std::string model;
  std::string output;  // the file that was written; empty: none
  std::vector<PluginMatches> plugins;
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
