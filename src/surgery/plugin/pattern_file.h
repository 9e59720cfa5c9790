#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "match/find.h"
#include "results/plugin_matches.h"

namespace assay::surgery {

// An attribute of the plugin: a value, or that of a node of the pattern.
struct PluginAttribute {
  std::string name;
  std::optional<ir::AttributeValue> value;  // of the node, or the default if it has none
  std::string node;                         // empty: `value`
  std::string attribute;
};

// A plugin: its node in a model, and the subgraphs that the node replaces.
struct PluginPattern {
  std::string name;
  std::string op;
  std::string domain;
  match::Pattern pattern;
  std::vector<PluginAttribute> attributes;
};

// The text of a file `pattern.yaml`; `name` is the default name of the plugin. Error (parse) for any other
// text.
PluginPattern parse_pattern_file(std::string_view text, std::string_view name);

// The match by names, with the attributes that the plugin gets.
results::PluginInstance instance_of(const ir::Model& model, const PluginPattern& plugin, const match::Match& match);

}  // namespace assay::surgery
