#pragma once

#include <string>

#include "results/plugin_report.h"

namespace assay::report {

std::string plugins_json(const results::PluginReport& report);

}  // namespace assay::report
