#include "engine/layers/concat_place.h"

#include <algorithm>

#include "ops/traits.h"

namespace assay::engine {
namespace {

bool is_reshape(const ir::Model& model, ir::NodeId node) {
  return model.text(model[node].domain).empty() && ops::traits(model, node).moves == ops::Moves::in_order;
}

// The value with the elements in their last shape before something else is done with them.
ir::ValueId last_shape(const ir::Model& model, ir::ValueId value) {
  for (ir::NodeId user = only_user(model, value); user.valid() && is_reshape(model, user);) {
    if (model[user].operands[0].value != value || model[user].graph != model.main_graph()) break;
    value = model[user].results[0];
    user = only_user(model, value);
  }
  return value;
}

// The Concat that uses a value first, as a layer, and as which operand.
std::optional<std::pair<Layer, size_t>> find_concat(const ir::Model& model, const ops::Inference& inference,
                                                    ir::ValueId value) {
  for (const ir::Use& use : ir::uses(model, value)) {
    if (model[use.user].is_outputs || model[use.user].graph != model.main_graph()) continue;
    std::optional<Layer> layer = find_layer(model, inference, use.user);
    if (!layer || !layer->is_single() || !layer->starts_with("Concat") || layer->outputs[0].count() == 0) continue;
    const std::span<const ir::Use> operands = model[use.user].operands;
    const auto found = std::ranges::find(operands, value, &ir::Use::value);
    return std::pair(*std::move(layer), static_cast<size_t>(found - operands.begin()));
  }
  return std::nullopt;
}

}  // namespace

ConcatPlace operand_place(const Layer& concat, size_t operand, Layout layout) {
  const TensorDesc& out = concat.outputs[0];
  ConcatPlace place{.concat = concat.node, .whole = make_desc(out.dtype, out.dims, layout), .part = {}};
  const auto axis = static_cast<size_t>(
      ops::normalize_axis(concat.facts(concat.nodes[0]).integer("axis", 1), static_cast<int64_t>(out.dims.size())));
  place.part = {out.dtype, concat.inputs[operand].dims, place.whole.strides};
  for (size_t i = 0; i < operand; ++i) place.offset += concat.inputs[i].dims[axis] * place.whole.strides[axis];
  return place;
}

std::optional<ConcatPlace> find_concat_place(const ir::Model& model, const ops::Inference& inference, ir::ValueId value,
                                             Layout layout) {
  const ir::ValueId shaped = last_shape(model, value);
  if (shaped != value && layout != Layout::plain) return std::nullopt;
  const auto found = find_concat(model, inference, shaped);
  if (!found) return std::nullopt;
  const auto& [concat, operand] = *found;
  const auto is_alike = [&](const TensorDesc& desc) {
    return desc.dtype == concat.outputs[0].dtype && desc.dims.size() == concat.outputs[0].dims.size();
  };
  if (!std::ranges::all_of(concat.inputs, is_alike)) return std::nullopt;
  ConcatPlace place = operand_place(concat, operand, layout);
  const std::optional<TensorDesc> own = find_desc(model, inference, value);
  if (!own || place.part.count() == 0 || !is_dense(place.part)) return std::nullopt;
  place.part = make_desc(own->dtype, own->dims, layout);
  return place;
}

}  // namespace assay::engine
