#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/run.h"
#include "cli/template/script.h"
#include "tasks/load.h"

namespace assay::cli {
namespace {

constexpr std::string_view kBody =
    "    # Edit the network here; the function returns nothing.\n"
    "    #\n"
    "    #   for index in range(network.num_layers):\n"
    "    #       print(network.get_layer(index).name)\n"
    "    #   network.mark_output(network.get_layer(0).get_output(0))\n"
    "    pass\n";

std::string empty_network() {
  return script_head("Creates a network for the engine.", "CreateNetwork") +
         "\n@func.extend(CreateNetwork())\ndef load_network(builder, network):\n" + std::string(kBody);
}

// The outputs that were asked for take the place of the model's.
std::string of_model(const Arguments& arguments, const std::string& model) {
  const ir::OutputSelection selection = parse_outputs(arguments);
  if (!selection.op_types.empty()) fail(ErrorCode::unsupported, "outputs by type cannot be written into a script");
  std::string names = "NetworkFromOnnxPath";
  std::string loader = "parse_network_from_onnx";
  std::string lines = fmt::format("{} = NetworkFromOnnxPath({})\n", loader, python_string(model));
  if (!selection.is_empty()) {
    names = "ModifyNetworkOutputs, NetworkFromOnnxPath";
    std::string words;
    if (selection.is_everything) words += ", outputs=\"mark all\"";
    if (!selection.names.empty()) words += ", outputs=" + python_list(selection.names);
    if (!selection.excluded.empty()) words += ", exclude_outputs=" + python_list(selection.excluded);
    lines += fmt::format("set_network_outputs = ModifyNetworkOutputs({}{})\n", loader, words);
    loader = "set_network_outputs";
  }
  return script_head("Creates a network for the engine from an ONNX model.", names) + lines +
         fmt::format("\n\n@func.extend({})\ndef load_network(builder, network, parser):\n", loader) +
         std::string(kBody);
}

int run_template_trt_network(const Arguments& arguments, Environment& environment) {
  const std::string model = arguments.value("model_file");
  if (model == "-") fail(ErrorCode::usage, "the script has to name the model: it cannot come from standard input");
  if (!model.empty() && !is_file(model)) fail(ErrorCode::io, "there is no model `{}`", printable(model));
  write_script(arguments.value("--output"),
               model.empty() ? empty_network() : of_model(arguments, absolute_path(model).lexically_normal().string()),
               environment);
  return kExitEqual;
}

}  // namespace

Command command_template_trt_network() {
  return {
      .path = "template trt-network",
      .summary = "write a Python script that makes a network for the engine",
      .description =
          "The script has a function load_network, which gets an empty network, or that of a model, and changes it. "
          "It imports the Python package of this program, or Polygraphy where that is not installed.",
      .positionals = {optional_model_positional()},
      .groups = {logging_group(),
                 {.title = "Script", .description = "What is written", .rows = {script_output_row()}},
                 output_group()},
      .run = run_template_trt_network,
      .examples = {"assay template trt-network model.onnx -o network.py"}};
}

}  // namespace assay::cli
