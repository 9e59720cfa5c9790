#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/infer.h"
#include "ops/node.h"

namespace assay::ops {

// The rules of its schema that a node breaks by itself: counts of inputs and outputs, names and types of attributes.
// One line each, with what was seen and what is expected.
std::vector<std::string> broken_call_rules(const Node& node);
// Inputs whose types the schema does not allow, or which should be of one type and are not.
std::vector<std::string> broken_type_rules(const Node& node, std::span<const Knowledge> inputs);
// Outputs that inference found to be of a type that the schema does not allow: attributes may ask for any number.
std::vector<std::string> broken_result_rules(const Node& node, std::span<const Knowledge> outputs);
// Gives outputs the element types that the schema ties to inputs, or fixes.
void bind_output_types(const Node& node, std::span<const Knowledge> inputs, std::span<Knowledge> outputs);

}  // namespace assay::ops
