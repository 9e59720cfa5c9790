#pragma once

#include <string>

#include "results/plugin_report.h"

namespace assay::report {

std::string plugins_json(const results::PluginReport& report);
// One plugin as it stands there.
std::string plugin_json(const results::PluginMatches& plugin);

}  // namespace assay::report
