#pragma once

#include <string>

#include "base/json.h"
#include "results/plugin_matches.h"

namespace assay::formats {

// One plugin and its instances, as reports and scripts have it.
void write_plugin(JsonWriter& json, const results::PluginMatches& plugin);
std::string plugin_json(const results::PluginMatches& plugin);

}  // namespace assay::formats
