#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// Which backends run the model, in the order typed, and where their libraries are.
OptionGroup backend_group();
// Names of the chosen backends in the order typed. Error (unsupported) for one that this build does not have.
std::vector<std::string> chosen_backends(const Arguments& arguments);
exec::LibrarySearch library_search(const Arguments& arguments);

// A group for each backend that declares settings: `--providers` of ONNX Runtime, `--openvino-device`.
std::vector<OptionGroup> backend_settings_groups();

// `--threads`, `--max-memory`, `--max-steps`, `--max-work`.
OptionGroup limits_group();
// Of all groups above that the command has.
exec::SessionOptions session_options(const Arguments& arguments);

}  // namespace assay::cli
