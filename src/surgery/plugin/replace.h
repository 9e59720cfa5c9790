#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "results/plugin_matches.h"

namespace assay::surgery {

struct Replacement {
  size_t replaced = 0;
  std::vector<std::string> skipped;  // a line for each skipped instance, with the reason
};

// `instance 0 of `plugin` (`y`): reason`
std::string skipped_line(const results::PluginMatches& plugin, size_t instance, std::string_view reason);

// Replaces each instance by one node that reads the inputs and computes the outputs under their names; nodes that only
// computed them are removed. Skips instances whose values do not exist (any more), that need more than their inputs, or
// whose node would be on a cycle. The graph may be unsorted afterwards.
Replacement replace_instances(ir::Model& model, const results::PluginMatches& plugin);

}  // namespace assay::surgery
