#include "cli/plugin/match_job.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/plugin/plugin_folder.h"
#include "cli/stopwatch.h"
#include "formats/plugin_config.h"
#include "report/json_plugins.h"

namespace assay::cli {
namespace {

// Plugins that match nowhere have no document.
void write_config(const std::string& path, std::vector<results::PluginMatches> plugins, Log& log) {
  std::erase_if(plugins, [](const results::PluginMatches& plugin) { return plugin.instances.empty(); });
  log.info("Writing the matches to: " + printable(path));
  OutputFile file(path);
  file.write(formats::plugin_config_text(plugins));
  file.commit();
}

}  // namespace

int run_match_job(std::string_view command, const std::string& output, const Arguments& arguments,
                  Environment& environment) {
  const std::string model = arguments.value("model_file");
  const std::vector<std::string> names = chosen_plugins(arguments);
  LoadedModel loaded = load_model(model, arguments, environment);
  if (arguments.flag("--shape-inference")) infer_shapes(loaded);
  print_findings(loaded.findings, environment);
  const Stopwatch matching;
  results::PluginReport report{.command = std::string(command), .model = model, .output = output};
  report.plugins = match_plugins(names, arguments, loaded, environment);
  report.findings = loaded.findings.all();
  report.timings = {{"load_seconds", loaded.load_seconds}, {"match_seconds", matching.seconds()}};
  if (!output.empty()) write_config(output, report.plugins, environment.log);
  if (wants_json(arguments)) write_json(arguments, environment, report::plugins_json(report));
  return kExitEqual;
}

}  // namespace assay::cli
