#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "exec/data_source.h"
#include "ops/interpreter.h"
#include "remote/python_host.h"

namespace assay::cli {

// Where the inputs come from that a command runs a model with: files, a script, or made up.

// The rows of data_group and saved_input_rows, and `--iterations` and `--python`, for commands that do not have these
// from elsewhere. `runs_once`: the command looks at one iteration only.
OptionGroup input_data_group(std::vector<std::string_view> shape_options = {"--input-shapes", "--inputs"},
                             bool runs_once = false);

// Whether the user gives inputs.
bool has_input_data(const Arguments& arguments);
// Error (usage, unsupported) for words that contradict themselves or cannot be obeyed; before the model is read.
void check_input_data(const Arguments& arguments, std::string_view shape_option = "--input-shapes");
// Of `--data-loader-script`.
std::optional<remote::ScriptFunction> data_loader(const Arguments& arguments);

// The inputs, and what must live as long as they are read.
struct InputData {
  std::unique_ptr<remote::PythonHost> host;
  exec::DataSourcePtr source;
};
InputData input_data(const ir::Model& model, const Arguments& arguments, Environment& environment,
                     Diagnostics& findings, std::string_view shape_option = "--input-shapes");
// The iterations of all files, which are named on the log. Error (usage): there is none.
std::vector<tensor::NamedData> load_inputs(const std::vector<std::string>& paths, Log& log);
// The first iteration as what the model's inputs are.
std::vector<ops::InputDatum> first_inputs(const ir::Model& model, const InputData& data, Diagnostics& findings);

}  // namespace assay::cli
