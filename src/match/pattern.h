#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/attribute_value.h"

namespace assay::match {

// The condition on an attribute of a node.
struct AttributeRule {
  std::string name;
  bool may_be_absent = false;
  std::vector<ir::AttributeValue> any_of;  // empty: any value
  std::optional<double> least;
  std::optional<double> most;
};

struct PatternNode {
  std::string name;                   // by which others refer to it; may be empty
  std::vector<std::string> ops;       // any of these
  std::optional<std::string> domain;  // not set: any
  std::vector<std::string> inputs;    // values of the pattern; an empty one is an omitted operand
  std::vector<std::string> outputs;
  std::vector<AttributeRule> rules;
  bool is_commutative = false;  // two operands, in either order
  bool is_optional = false;     // may be missing: its output is then its first input
};

// The description of a subgraph: nodes with their operands and results, under names local to the pattern.
struct Pattern {
  std::vector<std::string> inputs;     // match any value
  std::vector<std::string> constants;  // match initializers and results of Constant
  std::vector<std::string> outputs;    // may be used outside; all others of its nodes may not
  std::vector<PatternNode> nodes;
};

// Error (parse) for an impossible pattern: a name that is undefined or defined twice, a node connected to no other
// node.
void check(const Pattern& pattern);

}  // namespace assay::match
