#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/plugin_report.h"
#include "tasks/edit.h"

namespace assay::tasks {

// The file that describes a plugin in its folder.
inline constexpr std::string_view kPatternName = "pattern.yaml";
inline constexpr std::string_view kScriptName = "pattern.py";

// The subgraphs to match: those of the plugins in a folder, which has a folder for each plugin.
struct PluginSearch {
  std::string folder;
  std::vector<std::string> included;  // none: all
  std::vector<std::string> excluded;
  exec::LibrarySearch search;  // for the Python that runs scripts
};

// The names of the plugins to match, in order. Error (usage) for unknown names.
std::vector<std::string> plugin_names(const PluginSearch& search);

// The places that plugins match in a model; plugins without a match are listed too. `config`: the file for
// replace_plugins, empty: none.
struct MatchPluginsRequest {
  ModelSource model;
  PluginSearch plugins;
  bool infers = false;
  std::string config;
};
results::PluginReport match_plugins(const MatchPluginsRequest& request, Observer& observer);

// Replaces subgraphs by plugins.
struct ReplacePluginsRequest {
  EditRequest edit;
  std::string config;  // the file that match_plugins wrote; empty: `plugins`
  std::vector<results::PluginMatches> plugins;
  std::string folder;  // of scripts that do the replacement themselves; empty: none
  exec::LibrarySearch search;
  bool infers = false;
};
EditOutcome replace_plugins(const ReplacePluginsRequest& request, Observer& observer);

}  // namespace assay::tasks
