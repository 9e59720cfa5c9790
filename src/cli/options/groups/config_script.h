#pragma once

#include <string>

#include "cli/options/arguments.h"
#include "tasks/inputs.h"

namespace assay::cli {

// --trt-config-script
OptionGroup config_script_group();
// Settings of the engine that the user's script makes for the model; those that options give hold.
void read_config_script(const Arguments& arguments, const std::string& model, exec::SessionOptions& session);

}  // namespace assay::cli
