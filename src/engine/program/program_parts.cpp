// Steps that are parts: what they read and what of theirs is used outside.
#include "engine/program/part.h"
#include "engine/program/program_builder.h"
#include "ir/excerpt.h"

namespace assay::engine {

// By a node elsewhere, or by whoever runs the program.
bool ProgramBuilder::is_used_outside(ir::ValueId value, const std::set<ir::NodeId>& nodes) const {
  if (outputs_.contains(value) || kept_.contains(value)) return true;
  for (const ir::Use& use : ir::uses(model_, value)) {
    if (!nodes.contains(model_.ancestor_in(use.user, model_.main_graph()))) return true;
  }
  return false;
}

void ProgramBuilder::add_part(const std::vector<ir::NodeId>& nodes) {
  ir::Excerpt excerpt{.nodes = nodes, .inputs = {}, .outputs = {}, .constants = {}};
  const std::set<ir::NodeId> inside(nodes.begin(), nodes.end());
  Step step{.node = nodes.back(), .tactic = std::string(kPartTactic), .kernel = nullptr};
  step.device = host();
  step.passes_operands = host() != 0;
  for (const ir::ValueId value : ir::outer_values(model_, nodes)) {
    if (const tensor::Tensor* const constant = constant_of(model_, *program_.inference_, value)) {
      excerpt.constants.emplace(value, *constant);
      continue;
    }
    excerpt.inputs.push_back(value);
    step.inputs.emplace_back(operand_slot(step, value));
  }
  for (const ir::NodeId node : nodes) {
    for (const ir::ValueId value : model_[node].results) {
      if (!value.valid() || !is_used_outside(value, inside)) continue;
      excerpt.outputs.push_back(value);
      step.outputs.emplace_back(datum_slot(value));
    }
  }
  step.part = std::make_shared<const Part>(ir::make_excerpt(model_, excerpt), program_.devices_,
                                           part_options(options_, program_.packed_, program_.uploaded_));
  step.part_nodes = nodes;
  add_datum_step(std::move(step));
}

}  // namespace assay::engine
