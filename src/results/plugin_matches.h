#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace assay::results {

// An attribute of a node, as users write and read it.
using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;

struct NamedAttribute {
  std::string name;
  AttributeValue value;
};

// A subgraph that a plugin can stand for: what it reads, what it gives, and the attributes that the plugin then has.
struct PluginInstance {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<NamedAttribute> attributes;
};

struct PluginMatches {
  std::string name;
  std::string op;
  std::string domain;
  std::vector<PluginInstance> instances;
};

}  // namespace assay::results
