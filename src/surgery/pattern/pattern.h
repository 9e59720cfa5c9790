#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/plugin_matches.h"

namespace assay::surgery {

// What an attribute of a node must be.
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
  std::vector<std::string> inputs;    // values of the pattern; an empty one is an operand that is left out
  std::vector<std::string> outputs;
  std::vector<AttributeRule> rules;
  bool is_commutative = false;  // its two operands may stand in either order
  bool is_optional = false;     // may be missing: its output is then its first input
};

// An attribute of the plugin: a value, or that of a node of the pattern.
struct PluginAttribute {
  std::string name;
  std::optional<results::AttributeValue> value;  // of its own, or where the node's is absent
  std::string node;                              // empty: `value`
  std::string attribute;
};

// A subgraph, described: nodes by what they read and give, under names that hold in the pattern only.
struct Pattern {
  std::vector<std::string> inputs;     // match any value
  std::vector<std::string> constants;  // match initializers and results of Constant
  std::vector<std::string> outputs;    // may be used outside; all others of its nodes may not
  std::vector<PatternNode> nodes;
  std::vector<PluginAttribute> attributes;
};

// Error (parse) where the pattern says what cannot be: a name that is not defined or defined twice, a node that hangs
// together with no other.
void check_pattern(const Pattern& pattern);

}  // namespace assay::surgery
