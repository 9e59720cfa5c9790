#include <fmt/format.h>

#include "base/error.h"
#include "base/read_text.h"
#include "base/text.h"
#include "formats/plugin_config.h"
#include "tasks/edit/pass_job.h"
#include "tasks/plugin/replacer.h"

namespace assay::tasks {
namespace {

std::vector<results::PluginMatches> read_config(const std::string& path) {
  return with_frame([&] { return fmt::format("`{}`", printable(path)); },
                    [&] { return formats::parse_plugin_config(read_text(path)); });
}

void replace(const results::PluginMatches& plugin, PluginReplacer& replacer, EditJob& job) {
  const surgery::Replacement done = replacer.replace(plugin);
  for (const std::string& line : done.skipped) {
    job.observer().warning("left unchanged: " + line);
    job.skipped("replace", plugin.name, line);
  }
  job.observer().info(fmt::format("replaced {} instances of {} plugin", done.replaced, printable(plugin.name)));
  if (done.replaced > 0) job.changed("replace", plugin.name, fmt::format("{} instance(s)", done.replaced));
}

}  // namespace

EditOutcome replace_plugins(const ReplacePluginsRequest& request, Observer& observer) {
  EditJob job("plugin replace", request.edit, observer);
  const std::vector<results::PluginMatches> plugins =
      request.config.empty() ? request.plugins : read_config(request.config);
  job.load();
  PluginReplacer replacer(request, job);
  for (const results::PluginMatches& plugin : plugins) replace(plugin, replacer, job);
  run_passes({.sorts = true, .passes = {}, .options = {}}, job);
  if (request.infers) infer_shapes(job.loaded());
  return job.save();
}

}  // namespace assay::tasks
