#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "results/plugin_matches.h"

namespace assay::surgery {

struct Replacement {
  size_t replaced = 0;
  std::vector<std::string> skipped;  // a line for each instance that was left: which, and why
};

// `instance 0 of `plugin` (`y`): reason`
std::string skipped_line(const results::PluginMatches& plugin, size_t instance, std::string_view reason);

// Puts one node in the place of each instance: it reads the inputs and gives the outputs under their names, and what
// only computed them goes. Left are instances whose values are not there (any more), that need more than their inputs,
// or whose node would stand on a cycle. The graph may be out of order then.
Replacement replace_instances(ir::Model& model, const results::PluginMatches& plugin);

}  // namespace assay::surgery
