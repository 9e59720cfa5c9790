#include "cli/options/groups/input_data.h"

#include "base/error.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/data.h"
#include "cli/options/values.h"

namespace assay::cli {

OptionGroup input_data_group(std::vector<std::string_view> shape_options, bool runs_once) {
  OptionGroup group = data_group(std::move(shape_options));
  group.description = "The inputs that the model is run with";
  for (OptionRow& row : saved_input_rows()) group.rows.push_back(std::move(row));
  group.rows.push_back({.names = {"--iterations", "--iters"},
                        .metavar = "N",
                        .default_value = "1",
                        .help = runs_once ? "accepted, without effect: the model is run once"
                                          : "number of generated sets of inputs, each with its own seed",
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

namespace {

std::optional<remote::ScriptFunction> data_loader(const Arguments& arguments) {
  if (!arguments.has("--data-loader-script")) {
    if (arguments.has("--data-loader-func-name")) {
      fail(ErrorCode::usage, "--data-loader-func-name needs --data-loader-script");
    }
    return std::nullopt;
  }
  if (arguments.has("--load-inputs")) {
    fail(ErrorCode::usage, "--data-loader-script and --load-inputs both choose the inputs: use one of them");
  }
  remote::ScriptFunction function = remote::parse_script_function(arguments.value("--data-loader-script"), "load_data");
  if (arguments.has("--data-loader-func-name")) function.function = arguments.value("--data-loader-func-name");
  return function;
}

}  // namespace

void check_input_data(const Arguments& arguments, std::string_view shape_option, uint64_t least_iterations) {
  static_cast<void>(input_request(arguments, shape_option, least_iterations));
  if (arguments.value("--data-loader-backend-module") == "torch") {
    fail(ErrorCode::unsupported, "--data-loader-backend-module torch: only the stream of numpy can be reproduced");
  }
}

tasks::InputRequest input_request(const Arguments& arguments, std::string_view shape_option,
                                  uint64_t least_iterations) {
  return {.files = arguments.values("--load-inputs"),
          .data = {},
          .script = data_loader(arguments),
          .generated = generate_options(arguments, shape_option),
          .iterations = parse_count("--iterations", arguments.value("--iterations"), least_iterations),
          .casts = arguments.flag("--cast-inputs"),
          .fits = arguments.flag("--fit-inputs"),
          .search = library_search(arguments)};
}

}  // namespace assay::cli
