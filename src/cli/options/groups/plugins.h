#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/plugin.h"

namespace assay::cli {

// `--plugin-dir`, `--include`, `--exclude`, `--python`.
OptionGroup plugin_group();
tasks::PluginSearch plugin_search(const Arguments& arguments);
// `--python`
OptionRow python_row();

}  // namespace assay::cli
