#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/plugin_report.h"
#include "tasks/edit.h"

namespace assay::tasks {

// What describes a plugin in its folder: one of these.
inline constexpr std::string_view kPatternName = "pattern.yaml";
inline constexpr std::string_view kScriptName = "pattern.py";

// Which subgraphs are looked for: the plugins of a folder, which has a folder for each.
struct PluginSearch {
  std::string folder;
  std::vector<std::string> included;  // none: all
  std::vector<std::string> excluded;
  exec::LibrarySearch search;  // for the Python that runs scripts
};

// The names of the plugins that are looked for, in order. Error (usage) for names that are not there.
std::vector<std::string> plugin_names(const PluginSearch& search);

// Where plugins can stand in a model; those that match nowhere are listed too. `config`: the file for replace_plugins,
// empty: none.
struct MatchPluginsRequest {
  ModelSource model;
  PluginSearch plugins;
  bool infers = false;
  std::string config;
};
results::PluginReport match_plugins(const MatchPluginsRequest& request, Observer& observer);

// Puts plugins in the place of subgraphs.
struct ReplacePluginsRequest {
  EditRequest edit;
  std::string config;  // the file that match_plugins wrote
  std::string folder;  // of scripts that replace in their own way; empty: none do
  exec::LibrarySearch search;
  bool infers = false;
};
EditOutcome replace_plugins(const ReplacePluginsRequest& request, Observer& observer);

}  // namespace assay::tasks
