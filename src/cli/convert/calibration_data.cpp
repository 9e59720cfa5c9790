#include "cli/convert/calibration_data.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/data.h"
#include "cli/options/values.h"
#include "formats/saved_data.h"
#include "inspect/input_roles.h"

namespace assay::cli {
namespace {

remote::ScriptFunction loader_function(const Arguments& arguments) {
  remote::ScriptFunction function = remote::parse_script_function(arguments.value("--data-loader-script"), "load_data");
  if (arguments.has("--data-loader-func-name")) function.function = arguments.value("--data-loader-func-name");
  return function;
}

exec::DataSourcePtr loaded_data(const Arguments& arguments, Environment& environment) {
  formats::SavedInputs inputs;
  for (const std::string& path : arguments.values("--load-inputs")) {
    environment.log.info("Loading input data from " + printable(path));
    for (tensor::NamedData& iteration : formats::load_inputs(path)) inputs.push_back(std::move(iteration));
  }
  if (inputs.empty()) fail(ErrorCode::usage, "there is not one set of inputs in the loaded files");
  return exec::saved_source(std::move(inputs));
}

uint64_t iterations(const Arguments& arguments) {
  return parse_count("--iterations", arguments.value("--iterations"), 1);
}

}  // namespace

OptionGroup calibration_data_group() {
  return {
      .title = "Measuring Data",
      .description = "The inputs that the model is run with where its values are measured",
      .rows = {{.names = {"--load-inputs", "--load-input-data"},
                .arity = Arity::one_or_more,
                .metavar = "FILE",
                .help = "inputs, in the place of made-up ones",
                .is_file = true},
               {.names = {"--data-loader-script"},
                .metavar = "FILE[:FUNCTION]",
                .help = "Python script (default function load_data) that gives the inputs",
                .is_file = true},
               {.names = {"--data-loader-func-name"},
                .metavar = "NAME",
                .help = "older form of the function in --data-loader-script",
                .hidden = true},
               {.names = {"--iterations", "--iters"},
                .metavar = "N",
                .default_value = "1",
                .help = "sets of inputs that are made up, each with a seed of its own"},
               {.names = {"--python"},
                .metavar = "FILE",
                .help = "the Python that runs scripts and whose packages are used; default: the first python3 on PATH",
                .is_file = true}},
  };
}

bool has_calibration_data(const Arguments& arguments) {
  return arguments.has("--load-inputs") || arguments.has("--data-loader-script");
}

CalibrationData calibration_data(const ir::Model& model, const Arguments& arguments, Environment& environment,
                                 Diagnostics& findings) {
  CalibrationData data;
  if (arguments.has("--data-loader-script")) {
    Log& log = environment.log;
    data.host = std::make_unique<remote::PythonHost>(remote::PythonOptions{
        .search = library_search(arguments), .show = [&log](std::string_view traceback) { log.error(traceback); }});
    data.source = data.host->data_loader(loader_function(arguments));
  } else if (arguments.has("--load-inputs")) {
    data.source = loaded_data(arguments, environment);
  } else {
    exec::GenerateOptions options = generate_options(arguments);
    options.roles = inspect::input_roles(model);
    data.source = exec::generated_source(model, options, iterations(arguments), findings);
  }
  return data;
}

}  // namespace assay::cli
