#include <filesystem>

#include "base/error.h"
#include "cli/edit/edit_command.h"
#include "cli/options/groups/backends.h"
#include "cli/options/groups/plugins.h"
#include "cli/options/groups/shape_inference.h"

namespace assay::cli {
namespace {

std::string config_path(const Arguments& arguments) {
  const std::string model = arguments.value("model_file");
  if (!arguments.has("--config") && model == "-") {
    fail(ErrorCode::usage, "a model from standard input has no folder: name the file with --config FILE");
  }
  return arguments.has("--config") ? arguments.value("--config")
                                   : std::filesystem::path(model).replace_filename("config.yaml").string();
}

int run_plugin_replace(const Arguments& arguments, Environment& environment) {
  tasks::ReplacePluginsRequest request;
  request.edit = edit_request(arguments, "replaced.onnx");
  request.config = config_path(arguments);
  request.folder = arguments.value("--plugin-dir");
  request.search = library_search(arguments);
  request.infers = arguments.flag("--shape-inference");
  return run_edit(arguments, environment,
                  [&](tasks::Observer& observer) { return tasks::replace_plugins(request, observer); });
}

OptionGroup replacement_group() {
  return {
      .title = "Replacement",
      .description = "Which subgraphs are replaced",
      .rows = {
          {.names = {"--config"},
           .metavar = "FILE",
           .help = "what plugin match wrote; default: config.yaml next to the model",
           .is_file = true},
          {.names = {"--plugin-dir"},
           .metavar = "FOLDER",
           .help = "the folder of the plugins: where a script pattern.py has the function replace_with_plugin, that "
                   "function replaces the subgraphs of its plugin",
           .details = "It gets the model as a graph of ONNX GraphSurgeon, and the values of weights that it asks for. "
                      "Without the option, and for plugins without such a function, one node replaces each subgraph.",
           .is_file = true},
          python_row()}};
}

}  // namespace

Command command_plugin_replace() {
  return {.path = "plugin replace",
          .summary = "replace subgraphs by plugin nodes",
          .description =
              "Reads what plugin match wrote and replaces each subgraph by one node; by default the model is written "
              "to replaced.onnx next to the old one. The node has the type and the attributes from the file, and its "
              "outputs keep their names and types. Subgraphs that are no longer there, that share nodes with one that "
              "was replaced, or that need more than their inputs are left, with a warning. A plugin's script can "
              "replace in its own way (--plugin-dir).",
          .positionals = {model_positional()},
          .groups = edit_groups({replacement_group(), shape_inference_group()}),
          .run = run_plugin_replace,
          .examples = {"assay plugin replace model.onnx --config config.yaml -o replaced.onnx"}};
}

}  // namespace assay::cli
