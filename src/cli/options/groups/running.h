#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "exec/backend.h"
#include "exec/generated_inputs.h"

namespace assay::cli {

// Which backends run the model: `--ref`, `--ref-fp64`.
OptionGroup backend_group();
// Names of the chosen backends in the order typed. Error (unsupported) for one that this build does not have.
std::vector<std::string> chosen_backends(const Arguments& arguments);

// How inputs are made: `--seed`, `--input-shapes`.
OptionGroup data_group();
exec::GenerateOptions generate_options(const Arguments& arguments);

// `--threads`, `--max-memory`, `--max-steps`.
OptionGroup limits_group();
// Sets the number of threads and gives the rest.
exec::SessionOptions session_options(const Arguments& arguments);

// Error (parse) if the model is wrong as a graph: it can be looked at, but not run.
void require_runnable(const LoadedModel& loaded);

}  // namespace assay::cli
