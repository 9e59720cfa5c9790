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

// How ONNX Runtime is set up: `--providers`, `--graph-optimization-level`.
OptionGroup onnxrt_group();

// `--threads`, `--max-memory`, `--max-steps`, `--max-work`.
OptionGroup limits_group();
// Sets the number of threads and returns the other options, including those of the groups above if the command has
// them.
exec::SessionOptions session_options(const Arguments& arguments);

}  // namespace assay::cli
