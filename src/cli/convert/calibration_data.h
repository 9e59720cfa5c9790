#pragma once

#include <memory>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "exec/data_source.h"
#include "remote/python_host.h"

namespace assay::cli {

// Which inputs a model is run with while it is converted: `--load-inputs`, `--data-loader-script`, `--iterations`.
OptionGroup calibration_data_group();
bool has_calibration_data(const Arguments& arguments);

// The inputs, and what must live as long as they are read.
struct CalibrationData {
  std::unique_ptr<remote::PythonHost> host;
  exec::DataSourcePtr source;
};
// Saved inputs, a script's, or made-up ones. Error (usage) if more than one of them is named.
CalibrationData calibration_data(const ir::Model& model, const Arguments& arguments, Environment& environment,
                                 Diagnostics& findings);

}  // namespace assay::cli
