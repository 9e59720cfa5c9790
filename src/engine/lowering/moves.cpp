#include "engine/lowering/moves.h"

#include "engine/layers/layer.h"
#include "ops/traits.h"

namespace assay::engine {

bool is_move(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  const bool is_move = traits.is_reshape() || traits.moves == ops::Moves::by_dims;
  return is_move && model.text(model[node].domain).empty();
}

bool is_concat(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  return traits.is(ops::Nature::movement) && traits.range == ops::ValueRange::all;
}

ir::NodeId producer_for_one(const ir::Model& model, ir::ValueId value) {
  const bool is_result = value.valid() && model[value].kind == ir::ValueKind::result &&
                         model[value].graph == model.main_graph() && only_user(model, value).valid();
  return is_result ? model[value].producer : ir::NodeId{};
}

Moved moved_value(const ir::Model& model, ir::ValueId value) {
  Moved moved{{}, producer_for_one(model, value)};
  while (moved.maker.valid() && is_move(model, moved.maker)) {
    moved.moves.push_back(moved.maker);
    moved.maker = producer_for_one(model, model[moved.maker].operands[0].value);
  }
  return moved;
}

ir::PatchValue add_like(ir::Patch& patch, const ir::Model& model, ir::NodeId node,
                        std::vector<ir::PatchValue> operands) {
  const std::span<const ir::Attribute> attributes = model[node].attributes;
  return patch.add({.op = model.text(model[node].op),
                    .operands = std::move(operands),
                    .attributes = {attributes.begin(), attributes.end()}});
}

ir::PatchValue add_moves(ir::Patch& patch, const ir::Model& model, const std::vector<ir::NodeId>& moves,
                         ir::PatchValue value) {
  for (size_t i = moves.size(); i-- > 0;) {
    std::vector<ir::PatchValue> operands = {value};
    for (const ir::Use& use : model[moves[i]].operands.subspan(1)) operands.emplace_back(use.value);
    value = add_like(patch, model, moves[i], std::move(operands));
  }
  return value;
}

}  // namespace assay::engine
