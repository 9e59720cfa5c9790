#include "tasks/plugin.h"

#include "library/content.h"
#include "library/observer.h"

namespace assay {
namespace {

tasks::PluginSearch search_of(const PluginOptions& options) {
  return {.folder = options.folder,
          .included = options.included,
          .excluded = options.excluded,
          .search = {.python = options.python}};
}

PluginMatches to_public(const results::PluginMatches& plugin) {
  PluginMatches matches{plugin.name, plugin.op, plugin.domain, {}};
  for (const results::PluginInstance& instance : plugin.instances) {
    PluginInstance& added = matches.instances.emplace_back(PluginInstance{instance.inputs, instance.outputs, {}});
    for (const results::NamedAttribute& item : instance.attributes)
      added.attributes.emplace_back(item.name, item.value);
  }
  return matches;
}

results::PluginMatches to_internal(const PluginMatches& plugin) {
  results::PluginMatches matches{plugin.name, plugin.op, plugin.domain, {}};
  for (const PluginInstance& instance : plugin.instances) {
    results::PluginInstance& added = matches.instances.emplace_back();
    added.inputs = instance.inputs;
    added.outputs = instance.outputs;
    for (const auto& [name, value] : instance.attributes) added.attributes.push_back({name, value});
  }
  return matches;
}

}  // namespace

std::vector<std::string> list_plugins(const PluginOptions& options) { return tasks::plugin_names(search_of(options)); }

std::vector<PluginMatches> Model::match_plugins(const PluginOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  const tasks::MatchPluginsRequest request = {
      .model = library::source_of(*this), .plugins = search_of(options), .infers = false, .config = {}};
  std::vector<PluginMatches> found;
  for (const results::PluginMatches& plugin : tasks::match_plugins(request, watching).plugins) {
    found.push_back(to_public(plugin));
  }
  return found;
}

Model Model::replace_plugins(const std::vector<PluginMatches>& plugins, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::ReplacePluginsRequest request;
  request.edit.model = library::source_of(*this);
  for (const PluginMatches& plugin : plugins) request.plugins.push_back(to_internal(plugin));
  tasks::EditOutcome outcome = tasks::replace_plugins(request, watching);
  return library::make_model(std::move(outcome.model), content_->path, outcome.report.findings);
}

}  // namespace assay
