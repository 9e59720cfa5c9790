#include "lint/made_up.h"

#include <algorithm>

#include "ir/walk.h"
#include "ops/traits.h"

namespace assay::lint {
namespace {

// True if elements of all operands decide how large the results are. A Compress looks at its condition alone.
bool counts_all(const ops::Traits& traits) { return traits.counts_elements && traits.is(ops::Nature::selection); }

// True for operators that take what their first operand holds as it is.
bool takes_any_data(const ops::Traits& traits) {
  const bool selects = traits.is(ops::Nature::selection) && !traits.counts_elements;
  return selects || traits.is(ops::Nature::movement) || traits.is(ops::Nature::elementwise);
}

}  // namespace

MadeUpValues::MadeUpValues(const Subject& subject)
    : subject_(subject), model_(subject.model), facts_(model_.value_slots()) {
  for (const ir::ValueId input : model_[model_.main_graph()].inputs)
    facts_[input.index].content.values = subject.inputs->has_made_values;
  for (const ir::ValueId input : subject.inputs->with_made_shape) facts_[input.index].shape.shapes = true;
  for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) follow(node);
}

MadeUp MadeUpValues::behind(ir::NodeId node) const {
  MadeUp found = deciding_content(node);
  ir::for_each_operand(model_, node, [&](ir::ValueId value) { found = found | facts_[value.index].shape; });
  return found;
}

void MadeUpValues::follow(ir::NodeId node) {
  const bool is_of_shape = ops::traits(model_, node).shapes.contains(0);
  MadeUp content;
  ir::for_each_operand(model_, node, [&](ir::ValueId value) {
    const Facts& facts = facts_[value.index];
    content = content | (is_of_shape ? facts.shape : facts.content);
  });
  for (const ir::ValueId result : model_[node].results) {
    if (!result) continue;
    facts_[result.index].shape = shape_of(node, result);
    if (subject_.inference.constant(result) == nullptr) facts_[result.index].content = content;
  }
}

MadeUp MadeUpValues::shape_of(ir::NodeId node, ir::ValueId result) const {
  if (has_known_shape(result)) return {};
  MadeUp found = deciding_content(node);
  const bool counts = counts_all(ops::traits(model_, node));
  ir::for_each_operand(model_, node, [&](ir::ValueId value) {
    found = found | facts_[value.index].shape;
    if (counts) found = found | facts_[value.index].content;
  });
  return found;
}

MadeUp MadeUpValues::deciding_content(ir::NodeId node) const {
  MadeUp found;
  if (subject_.callees[node].function || !model_.bodies(model_[node]).empty()) {
    ir::for_each_operand(model_, node, [&](ir::ValueId value) { found = found | facts_[value.index].content; });
    return found;
  }
  for (const ir::Use& use : model_[node].operands) {
    if (use.value && decides(node, use.index, use.value)) found = found | facts_[use.value.index].content;
  }
  return found;
}

bool MadeUpValues::decides(ir::NodeId node, uint32_t operand, ir::ValueId value) const {
  const ops::Traits& traits = ops::traits(model_, node);
  const ops::Type& type = subject_.inference.type(value);
  if (type.is_tensor() && tensor::is_floating(type.dtype))
    return traits.sizes.contains(operand) || traits.indices.contains(operand) || counts_all(traits);
  return operand != 0 || !takes_any_data(traits);
}

bool MadeUpValues::has_known_shape(ir::ValueId value) const {
  const ops::Type& type = subject_.inference.type(value);
  return type.is_tensor() && type.dims && std::ranges::all_of(*type.dims, &ops::Dim::is_number);
}

}  // namespace assay::lint
