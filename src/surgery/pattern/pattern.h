#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/plugin_matches.h"

namespace assay::surgery {

// The condition on an attribute of a node.
struct AttributeRule {
  std::string name;
  bool may_be_absent = false;
  std::vector<results::AttributeValue> any_of;  // empty: any value
  std::optional<double> least;
  std::optional<double> most;
};

struct PatternNode {
  std::string name;                   // by which attributes refer to it; may be empty
  std::vector<std::string> ops;       // any of these
  std::optional<std::string> domain;  // not set: any
  std::vector<std::string> inputs;    // values of the pattern; an empty one is an omitted operand
  std::vector<std::string> outputs;
  std::vector<AttributeRule> rules;
  bool is_commutative = false;  // its two operands may be in either order
  bool is_optional = false;     // may be missing: its output is then its first input
};

// An attribute of the plugin: a value, or that of a node of the pattern.
struct PluginAttribute {
  std::string name;
  std::optional<results::AttributeValue> value;  // its own, or the default if the node has none
  std::string node;                              // empty: `value`
  std::string attribute;
};

// The description of a subgraph: nodes with their operands and results, under names local to the pattern.
struct Pattern {
  std::vector<std::string> inputs;     // match any value
  std::vector<std::string> constants;  // match initializers and results of Constant
  std::vector<std::string> outputs;    // may be used outside; all others of its nodes may not
  std::vector<PatternNode> nodes;
  std::vector<PluginAttribute> attributes;
};

// Error (parse) for an impossible pattern: a name that is undefined or defined twice, a node connected to no other
// node.
void check_pattern(const Pattern& pattern);

}  // namespace assay::surgery
