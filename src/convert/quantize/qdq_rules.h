#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "ops/resolve.h"

namespace assay::convert {

// The way in which an operator works on integers.
enum class QdqRole : uint8_t {
  none,
  compute,      // multiplies by weights: worth it by itself
  elementwise,  // has an integer form that pays between integer nodes
  movement,     // hands numbers on as they are: its result has the scale of its operand
  activation,   // is merged with the node before it
};

// True if a factor is 1, as it is without the attribute.
bool is_one(const ir::Model& model, const ir::Node& node, std::string_view name);

// The operators of all roles but `none`, in alphabetical order.
std::vector<std::string> quantizable_ops();
// By what it calls; functions of the model and other domains have none.
QdqRole role_of(const ir::Model& model, ir::NodeId node, const ops::Callee& callee);

// The operands that are to be quantized.
std::vector<uint32_t> data_operands(const ir::Node& node, QdqRole role);
// The axis of the output channels of a constant operand of a compute node; empty: such a weight has one scale.
std::optional<uint32_t> channel_axis(const ir::Model& model, ir::NodeId node, uint32_t operand, size_t rank);
// An operand of a node.
struct Place {
  ir::NodeId user;
  uint32_t index;
};
// The place at which a compute node's result gets its bias: in the node, or behind a MatMul. Empty: nowhere.
std::optional<Place> bias_place(const ir::Model& model, ir::NodeId node);

}  // namespace assay::convert
