#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "results/plugin_matches.h"

namespace assay::cli {

// What describes a plugin in its folder: one of these.
inline constexpr std::string_view kPatternName = "pattern.yaml";
inline constexpr std::string_view kScriptName = "pattern.py";

// `--plugin-dir`, `--include`, `--exclude`, `--python`.
OptionGroup plugin_group();
// `--python`
OptionRow python_row();

// The folders of the plugins that the options choose, in the order of their names. Error (usage) for names that are not
// there.
std::vector<std::string> chosen_plugins(const Arguments& arguments);
// Where each of these plugins stands in the model, with a line for each; those that match nowhere are listed too.
std::vector<results::PluginMatches> match_plugins(const std::vector<std::string>& names, const Arguments& arguments,
                                                  const LoadedModel& loaded, Environment& environment);
// `{'toyPlugin': 1}`
std::string count_text(const std::vector<results::PluginMatches>& plugins);
// The text of a whole file.
std::string read_text(const std::string& path);

}  // namespace assay::cli
