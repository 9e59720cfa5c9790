#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/read_text.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "formats/plugin_config.h"
#include "tasks/plugin_tune.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

// A place of a plugin in the model.
struct Place {
  const results::PluginMatches* plugin;
  const results::PluginInstance* instance;
};

class Autotune {
 public:
  Autotune(AutotuneRequest request, Observer& observer) : request_(std::move(request)), observer_(observer) {
    plugins_ = request_.config.empty() ? matches() : formats::parse_plugin_config(read_text(request_.config));
    for (const results::PluginMatches& plugin : plugins_) {
      for (size_t i = 0; i < plugin.instances.size(); ++i) {
        const std::string name = fmt::format("{}#{}", plugin.name, i);
        places_.emplace(name, Place{&plugin, &plugin.instances[i]});
        request_.tune.knobs.push_back({.name = name, .values = {"off", "on"}});
      }
    }
    if (request_.tune.knobs.empty())
      fail(ErrorCode::usage, "no plugin has a place in the model, and no choice of the engine is varied");
  }

  results::Tuning run() {
    request_.tune.choose = [this](const Route& route, exec::Settings& settings) {
      apply_route(route, settings);
      return model_of(route);
    };
    const results::Tuning tuning = tune(request_.tune, observer_);
    if (!request_.output.empty() && !request_.tune.only_lists) save_best(tuning);
    return tuning;
  }

 private:
  std::vector<results::PluginMatches> matches() {
    return match_plugins({.model = request_.tune.bench.model,
                          .plugins = request_.plugins,
                          .infers = request_.infers,
                          .config = {}},
                         observer_)
        .plugins;
  }

  // The plugins with the places that a route replaces.
  std::vector<results::PluginMatches> chosen(const Route& route) const {
    std::vector<results::PluginMatches> kept;
    for (const auto& [name, value] : route) {
      const auto place = places_.find(name);
      if (place == places_.end()) continue;
      const results::PluginMatches& plugin = *place->second.plugin;
      if (kept.empty() || kept.back().name != plugin.name)
        kept.push_back({.name = plugin.name, .op = plugin.op, .domain = plugin.domain, .instances = {}});
      kept.back().instances.push_back(*place->second.instance);
    }
    return kept;
  }

  // The file of the model with these replacements, made once; empty: none are replaced.
  std::string model_of(const Route& route) {
    Route own;
    for (const auto& choice : route) {
      if (places_.contains(choice.first)) own.push_back(choice);
    }
    if (own.empty()) return "";
    const auto [entry, is_new] = files_.try_emplace(route_text(own));
    if (!is_new) return entry->second;
    const std::string path = (folder_.path() / fmt::format("{}.onnx", files_.size())).string();
    replace(own, path);
    return entry->second = path;
  }

  void replace(const Route& route, const std::string& path) {
    ReplacePluginsRequest replaced{.edit = {.model = request_.tune.bench.model, .output = path, .save = {}},
                                   .config = {},
                                   .plugins = chosen(route),
                                   .folder = request_.config.empty() ? request_.plugins.folder : "",
                                   .search = request_.plugins.search,
                                   .infers = request_.infers};
    replace_plugins(replaced, observer_);
  }

  void save_best(const results::Tuning& tuning) {
    Route route;
    const std::string text = tuning.best ? " " + tuning.routes[*tuning.best].route + " " : "";
    for (const Knob& knob : request_.tune.knobs) {
      if (text.find(fmt::format(" -{}=on ", knob.name)) != std::string::npos) route.emplace_back(knob.name, "on");
    }
    replace(route, request_.output);
  }

  AutotuneRequest request_;
  Observer& observer_;
  std::vector<results::PluginMatches> plugins_;
  std::map<std::string, Place, std::less<>> places_;
  TemporaryFolder folder_;
  std::map<std::string, std::string> files_;  // by the replacements that they have
};

}  // namespace

results::Tuning autotune_plugins(AutotuneRequest request, Observer& observer) {
  return Autotune(std::move(request), observer).run();
}

}  // namespace assay::tasks
