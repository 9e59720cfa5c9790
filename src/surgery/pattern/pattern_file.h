#pragma once

#include <string>
#include <string_view>

#include "surgery/pattern/pattern.h"

namespace assay::surgery {

// A plugin: the node that it is in a model, and the subgraphs that it stands for.
struct PluginPattern {
  std::string name;
  std::string op;
  std::string domain;
  Pattern pattern;
};

// The text of a file `pattern.yaml`; `name` is the plugin's where the text has none. Error (parse) for what is no such
// text.
PluginPattern parse_pattern_file(std::string_view text, std::string_view name);

}  // namespace assay::surgery
