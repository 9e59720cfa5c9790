#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"
#include "cli/options/groups/plugins.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/plugin/match_command.h"

namespace assay::cli {
namespace {

int run_plugin_list(const Arguments& arguments, Environment& environment) {
  return run_match("plugin list", "", arguments, environment);
}

}  // namespace

Command command_plugin_list() {
  return {
      .path = "plugin list",
      .summary = "count the subgraphs that plugins can replace",
      .description =
          "Each folder of --plugin-dir describes one plugin: in pattern.yaml, which docs/formats.md explains, or in "
          "pattern.py, a script for ONNX GraphSurgeon that Python runs. Subgraphs of one pattern.yaml share no "
          "node.",
      .positionals = {model_positional()},
      .groups = {logging_group(), model_group(), onnx_load_group(), plugin_group(), shape_inference_group(),
                 json_group()},
      .run = run_plugin_list,
      .examples = {"assay plugin list model.onnx --plugin-dir plugins"}};
}

}  // namespace assay::cli
