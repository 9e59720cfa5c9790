#pragma once

#include <string>
#include <string_view>

#include "surgery/pattern/pattern.h"

namespace assay::surgery {

// A plugin: its node in a model, and the subgraphs that the node replaces.
struct PluginPattern {
  std::string name;
  std::string op;
  std::string domain;
  Pattern pattern;
};

// The text of a file `pattern.yaml`; `name` is the default name of the plugin. Error (parse) for any other
// text.
PluginPattern parse_pattern_file(std::string_view text, std::string_view name);

}  // namespace assay::surgery
