#include "cli/input_data.h"

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/data.h"
#include "cli/options/values.h"
#include "formats/saved_data.h"
#include "inspect/input_roles.h"

namespace assay::cli {

OptionGroup input_data_group(std::vector<std::string_view> shape_options, bool runs_once) {
  OptionGroup group = data_group(std::move(shape_options));
  group.description = "The inputs that the model is run with, made up or not";
  for (OptionRow& row : saved_input_rows()) group.rows.push_back(std::move(row));
  group.rows.push_back({.names = {"--iterations", "--iters"},
                        .metavar = "N",
                        .default_value = "1",
                        .help = runs_once ? "accepted, without effect: the model is run once"
                                          : "sets of inputs that are made up, each with a seed of its own",
                        .hidden = runs_once});
  group.rows.push_back({.names = {"--python"},
                        .metavar = "FILE",
                        .help = "the Python that runs scripts and whose packages are used; default: the first python3 "
                                "on PATH",
                        .is_file = true});
  return group;
}

bool has_input_data(const Arguments& arguments) {
  return arguments.has("--load-inputs") || arguments.has("--data-loader-script");
}

std::optional<remote::ScriptFunction> data_loader(const Arguments& arguments) {
  if (!arguments.has("--data-loader-script")) {
    if (arguments.has("--data-loader-func-name")) {
      fail(ErrorCode::usage, "--data-loader-func-name needs --data-loader-script");
    }
    return std::nullopt;
  }
  if (arguments.has("--load-inputs")) {
    fail(ErrorCode::usage, "--data-loader-script and --load-inputs both say where inputs come from: give one of them");
  }
  remote::ScriptFunction function = remote::parse_script_function(arguments.value("--data-loader-script"), "load_data");
  if (arguments.has("--data-loader-func-name")) function.function = arguments.value("--data-loader-func-name");
  return function;
}

void check_input_data(const Arguments& arguments, std::string_view shape_option) {
  static_cast<void>(data_loader(arguments));
  static_cast<void>(generate_options(arguments, shape_option));
  static_cast<void>(parse_count("--iterations", arguments.value("--iterations"), 1));
  if (arguments.value("--data-loader-backend-module") == "torch") {
    fail(ErrorCode::unsupported, "--data-loader-backend-module torch: only the stream of numpy can be reproduced");
  }
}

std::vector<tensor::NamedData> load_inputs(const std::vector<std::string>& paths, Log& log) {
  std::vector<tensor::NamedData> inputs;
  for (const std::string& path : paths) {
    log.info("Loading input data from " + printable(path));
    for (tensor::NamedData& iteration : formats::load_inputs(path)) inputs.push_back(std::move(iteration));
  }
  if (inputs.empty()) fail(ErrorCode::usage, "there is not one set of inputs in the loaded files");
  return inputs;
}

InputData input_data(const ir::Model& model, const Arguments& arguments, Environment& environment,
                     Diagnostics& findings, std::string_view shape_option) {
  InputData data;
  if (const std::optional<remote::ScriptFunction> loader = data_loader(arguments)) {
    Log& log = environment.log;
    data.host = std::make_unique<remote::PythonHost>(
        remote::PythonOptions{.search = library_search(arguments),
                              .show = [&log](std::string_view traceback) { log.keep_details(traceback); }});
    data.source = data.host->data_loader(*loader);
  } else if (arguments.has("--load-inputs")) {
    data.source = exec::saved_source(load_inputs(arguments.values("--load-inputs"), environment.log));
  } else {
    exec::GenerateOptions options = generate_options(arguments, shape_option);
    options.roles = inspect::input_roles(model);
    const uint64_t iterations = parse_count("--iterations", arguments.value("--iterations"), 1);
    data.source = exec::generated_source(model, options, iterations, findings);
  }
  if (arguments.flag("--cast-inputs")) data.source = exec::cast_source(std::move(data.source), model);
  return data;
}

std::vector<ops::InputDatum> first_inputs(const ir::Model& model, const InputData& data, Diagnostics& findings) {
  const std::optional<tensor::NamedData> first = data.source->get(0);
  if (!first) fail(ErrorCode::usage, "there is not one set of inputs");
  std::map<std::string_view, ir::ValueId> by_name;
  for (const ir::ValueId input : model[model.main_graph()].inputs)
    by_name.emplace(model.text(model[input].name), input);
  std::vector<ops::InputDatum> inputs;
  for (exec::Feed& feed : exec::check_feeds(model, *first, findings)) {
    inputs.push_back({by_name.at(feed.name), std::move(feed.value)});
  }
  return inputs;
}

}  // namespace assay::cli
