#pragma once

#include <string>

#include "results/plugin_matches.h"

namespace assay::formats {

// One plugin and its instances, as reports and scripts have it.
std::string plugin_json(const results::PluginMatches& plugin);

}  // namespace assay::formats
