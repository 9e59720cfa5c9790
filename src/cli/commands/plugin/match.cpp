#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/model_output.h"
#include "cli/options/groups/plugins.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/plugin/match_command.h"

namespace assay::cli {
namespace {

int run_plugin_match(const Arguments& arguments, Environment& environment) {
  const std::string output = model_output_path(arguments, arguments.value("model_file"), "config.yaml");
  return run_match("plugin match", output, arguments, environment);
}

}  // namespace

Command command_plugin_match() {
  return {.path = "plugin match",
          .summary = "write the subgraphs that plugins can replace to a file",
          .description =
              "Looks for plugins as plugin list does and writes what it finds as YAML, by default to config.yaml next "
              "to the model. The file can be edited before plugin replace reads it.",
          .positionals = {model_positional()},
          .groups = {logging_group(), model_group(), onnx_load_group(), plugin_group(), shape_inference_group(),
                     model_output_group(false), json_group()},
          .run = run_plugin_match,
          .examples = {"assay plugin match model.onnx --plugin-dir plugins -o config.yaml"}};
}

}  // namespace assay::cli
