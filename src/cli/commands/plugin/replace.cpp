#include "surgery/plugin/replace.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/edit/pass_job.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/plugin/plugin_folder.h"
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

// A script that replaces in its own way would not be obeyed.
void refuse_own_replacements(const Arguments& arguments, const std::vector<results::PluginMatches>& plugins) {
  if (!arguments.has("--plugin-dir")) return;
  for (const results::PluginMatches& plugin : plugins) {
    const std::filesystem::path folder = std::filesystem::path(arguments.value("--plugin-dir")) / plugin.name;
    const std::string script = (folder / "pattern.py").string();
    if (!std::filesystem::is_regular_file(script) || std::filesystem::exists(folder / "pattern.yaml")) continue;
    if (read_text(script).find("def replace_with_plugin") == std::string::npos) continue;
    fail(ErrorCode::unsupported,
         "`{}` replaces with its own function replace_with_plugin, which is not supported; without --plugin-dir one "
         "node stands for each subgraph",
         printable(script));
  }
}

void replace(const results::PluginMatches& plugin, EditJob& job) {
  const surgery::Replacement done = surgery::replace_instances(job.model(), plugin);
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
  refuse_own_replacements(arguments, plugins);
  job.load();
  for (const results::PluginMatches& plugin : plugins) replace(plugin, job);
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
           .help =
               "not needed, as the file of --config says all; a script there that replaces in its own way is refused",
           .is_file = true}}};
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
          "that was replaced, or that need more than their inputs are left, with a warning.",
      .positionals = {model_positional()},
      .groups = edit_groups({replacement_group(), shape_inference_group()}),
      .run = run};
}

}  // namespace assay::cli
