#pragma once

#include <string>
#include <vector>

#include "passes/pass.h"

namespace assay::passes {

// The axis along which a Scan takes slices from an operand, or puts the results of its iterations.
struct UnrollAxis {
  int64_t axis = 0;
  bool is_reverse = false;
};

// A loop as a number of copies of its body. States go from an iteration to the next: their first values are operands,
// their last ones results. Outputs of the body behind the states are gathered in the results behind them.
struct UnrollPlan {
  ir::NodeId node;
  ir::GraphId body;
  int64_t iterations = 0;
  ir::ValueId number = {};     // inputs of a Loop's body: the number of the iteration,
  ir::ValueId condition = {};  // and a condition that always holds
  uint32_t first_state_operand = 0;
  uint32_t first_state_input = 0;
  uint32_t first_state_output = 0;
  uint32_t states = 0;
  std::vector<UnrollAxis> slices = {};    // for operands behind the states
  std::vector<UnrollAxis> gathered = {};  // for outputs behind the states; the first axis where there are none
};

// The number of nodes that an iteration becomes, those of bodies included, and those that take slices and put rows
// together.
uint64_t nodes_made(const ir::Model& model, const UnrollPlan& plan);
// The reason for which the plan does not fit the node and its body; empty if it does.
std::string unroll_refusal(const ir::Model& model, const UnrollPlan& plan);
// One step. Gives the first node that came.
ir::NodeId unroll(PassRun& run, const UnrollPlan& plan);

}  // namespace assay::passes
