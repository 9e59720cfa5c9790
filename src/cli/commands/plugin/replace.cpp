#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/edit/pass_job.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/plugin/plugin_folder.h"
#include "cli/plugin/plugin_replacer.h"
#include "formats/plugin_config.h"

namespace assay::cli {
namespace {

std::vector<results::PluginMatches> read_config(const Arguments& arguments) {
  const std::string model = arguments.value("model_file");
  if (!arguments.has("--config") && model == "-") {
    fail(ErrorCode::usage, "a model from standard input has no place: say --config FILE");
  }
  const std::string path = arguments.has("--config")
                               ? arguments.value("--config")
                               : std::filesystem::path(model).replace_filename("config.yaml").string();
  return with_frame([&] { return fmt::format("`{}`", printable(path)); },
                    [&] { return formats::parse_plugin_config(read_text(path)); });
}

void replace(const results::PluginMatches& plugin, PluginReplacer& replacer, EditJob& job) {
  const surgery::Replacement done = replacer.replace(plugin);
  for (const std::string& line : done.skipped) {
    job.log().warning("left as it is: " + line);
    job.skipped("replace", plugin.name, line);
  }
  const std::string line = fmt::format("replaced {} instances of {} plugin", done.replaced, printable(plugin.name));
  job.log().info(line);
  if (done.replaced > 0) job.changed("replace", plugin.name, fmt::format("{} instance(s)", done.replaced));
}

int run(const Arguments& arguments, Environment& environment) {
  EditJob job("plugin replace", "replaced.onnx", arguments, environment);
  const std::vector<results::PluginMatches> plugins = read_config(arguments);
  job.load();
  PluginReplacer replacer(arguments, job);
  for (const results::PluginMatches& plugin : plugins) replace(plugin, replacer, job);
  run_passes({.sorts = true, .passes = {}, .options = {}}, job);
  if (arguments.flag("--shape-inference")) infer_shapes(job.loaded());
  return job.save();
}

OptionGroup replacement_group() {
  return {
      .title = "Replacement",
      .description = "Which subgraphs are replaced",
      .rows = {
          {.names = {"--config"},
           .metavar = "FILE",
           .help = "what plugin match wrote; default: config.yaml beside the model",
           .is_file = true},
          {.names = {"--plugin-dir"},
           .metavar = "FOLDER",
           .help = "the folder of the plugins: where a script pattern.py has the function replace_with_plugin, that "
                   "function replaces the subgraphs of its plugin",
           .details = "It gets the model as a graph of ONNX GraphSurgeon, and the values of weights that it asks for. "
                      "Without the option, and for plugins without such a function, one node stands for each subgraph.",
           .is_file = true},
          python_row()}};
}

}  // namespace

Command command_plugin_replace() {
  return {
      .path = "plugin replace",
      .summary = "put plugin nodes in the place of subgraphs",
      .description =
          "Reads what plugin match wrote and puts one node in the place of each subgraph; by default the model goes "
          "into replaced.onnx beside the old one. The node has the type and the attributes that the file says, and "
          "its outputs keep their names and types. Subgraphs that are no longer there, that share nodes with one "
          "that was replaced, or that need more than their inputs are left, with a warning. A plugin's script can "
          "replace in its own way (--plugin-dir).",
      .positionals = {model_positional()},
      .groups = edit_groups({replacement_group(), shape_inference_group()}),
      .run = run,
      .examples = {"assay plugin replace model.onnx --config config.yaml -o replaced.onnx"}};
}

}  // namespace assay::cli
