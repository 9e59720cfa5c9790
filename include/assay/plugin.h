#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

// A folder with a folder for each plugin, which holds its pattern.yaml or pattern.py.
struct PluginOptions {
  std::string folder;
  std::vector<std::string> included = {};  // none: all
  std::vector<std::string> excluded = {};
  std::string python = {};  // that runs pattern.py; empty: the first python3 on PATH
};

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;

// A subgraph that a plugin can replace: what it reads and gives, and the attributes of the plugin's node.
struct PluginInstance {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, AttributeValue>> attributes;
};

struct PluginMatches {
  std::string name;
  std::string op;
  std::string domain;
  std::vector<PluginInstance> instances;
};

// The names of the plugins that the options choose.
std::vector<std::string> list_plugins(const PluginOptions& options);

}  // namespace assay
