#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "ir/model.h"
#include "results/plugin_matches.h"

namespace assay::surgery {

using results::AttributeValue;
using results::NamedAttribute;

// The attribute as part of this model.
ir::Attribute attribute_of(ir::Model& model, const NamedAttribute& attribute);

// A tensor that becomes an initializer.
struct NamedConstant {
  std::string name;
  tensor::Tensor tensor;
};

struct Insertion {
  std::string op;
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;   // an empty one is an omitted optional input
  std::vector<std::string> outputs;  // of the model
  std::vector<NamedAttribute> attributes;
  std::vector<NamedConstant> constants;  // new ones, which the node reads
};

// Suffix of the second name of a value that is both an input and an output of the new node.
inline constexpr std::string_view kInsertedSuffix = "_polygraphy_surgeon_insert_output";

// Inserts a node between values of the main graph: users of an output then use the node's result, and nodes that only
// computed the old value are removed. If an output is also an input, a graph output keeps its name and the old value
// gets the suffix; otherwise the new value gets it. Error (usage) for unknown names, for constants that already exist
// or that the node does not read, and if the node would be on a cycle.
ir::NodeId insert(ir::Model& model, const Insertion& insertion, Diagnostics& findings);

}  // namespace assay::surgery
