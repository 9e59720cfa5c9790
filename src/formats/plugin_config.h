#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "results/plugin_matches.h"

namespace assay::formats {

// The file that `plugin match` writes and `plugin replace` reads: YAML, one document for each plugin. Error (parse)
// for any other file.
std::vector<results::PluginMatches> parse_plugin_config(std::string_view text);
std::string plugin_config_text(const std::vector<results::PluginMatches>& plugins);

// An integer, a float, text, or a list of one of these. Error (parse) for anything else.
results::AttributeValue parse_attribute_value(const YamlNode& node);
// A list of names.
std::vector<std::string> parse_names(const YamlNode& node);

}  // namespace assay::formats
