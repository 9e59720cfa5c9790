#include "engine/layers/fused_product.h"

#include <algorithm>

#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::engine {
namespace {

std::span<const ir::NodeId> nodes_of(const Layer& layer) { return layer.nodes; }

// The place of the product among the nodes; that of the end: there is none.
size_t place_of_product(const Layer& layer) {
  const auto found =
      std::ranges::find_if(layer.nodes, [&](ir::NodeId node) { return is_row_product(*layer.model, node); });
  return static_cast<size_t>(found - layer.nodes.begin());
}

// True for a node that gives two parts of one value.
bool divides(const ir::Model& model, ir::NodeId node) {
  return ops::traits(model, node).is(ops::Nature::movement) && model[node].results.size() == 2;
}

// Nodes that make a value, up to the one that gives it; 0: none of the layer does.
size_t nodes_up_to(const Layer& layer, ir::ValueId value) {
  for (size_t i = 0; i < layer.nodes.size(); ++i) {
    if (layer.result(layer.nodes[i], 0) == value) return i + 1;
  }
  return 0;
}

}  // namespace

bool is_row_product(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  const bool has_codes = traits.product == ops::ProductKind::other && !traits.codes.is_empty();
  return traits.nature == ops::Nature::product && (traits.product == ops::ProductKind::matrices || has_codes);
}

std::optional<FusedProduct> find_fused_product(const Layer& layer) {
  const size_t product = place_of_product(layer);
  if (layer.outputs.size() != 1 || product == layer.nodes.size()) return std::nullopt;
  FusedProduct form{.first = nodes_up_to(layer, layer.operand(layer.nodes[product], 0))};
  const bool is_halved = product + 2 < layer.nodes.size() && divides(*layer.model, layer.nodes[product + 1]);
  if (is_halved) form.split = product + 1;
  if (form.first > product || (form.first == 0 && !is_halved)) return std::nullopt;
  if (form.first == 0) return form;
  const FusedParts parts = parts_of(layer, form);
  return find_norm(parts.norm->layer) ? std::optional(form) : std::nullopt;
}

FusedParts parts_of(const Layer& layer, const FusedProduct& form) {
  const std::span<const ir::NodeId> nodes = nodes_of(layer);
  const size_t end = form.split == 0 ? nodes.size() : form.split;
  FusedParts parts;
  if (form.first > 0) {
    const ir::ValueId normalised = layer.result(nodes[form.first - 1], 0);
    parts.norm = part_until(layer, nodes.first(form.first), Layout::plain, normalised);
  }
  const std::span<const ir::NodeId> product = nodes.subspan(form.first, end - form.first);
  if (form.split == 0) {
    parts.product = part_of(layer, product, Layout::plain);
    return parts;
  }
  parts.product = part_until(layer, product, Layout::plain, layer.result(product.back(), 0));
  parts.gates = part_of(layer, nodes.subspan(form.split + 1), Layout::plain);
  const TensorDesc& whole = parts.product.layer.outputs[0];
  const auto half = [&](uint32_t number) {
    const int input = parts.gates->layer.input_of(layer.result(nodes[form.split], number));
    if (input >= 0) parts.gates->layer.inputs[static_cast<size_t>(input)].strides = whole.strides;
    return input;
  };
  parts.first_half = half(0);
  parts.second_half = half(1);
  return parts;
}

ir::NodeId halving_node(const ir::Model& model, const ops::Inference& inference, ir::NodeId product) {
  const ir::ValueId result = ir::result(model, product);
  const ir::NodeId split = only_user(model, result);
  if (!split.valid() || !divides(model, split)) return {};
  const std::optional<TensorDesc> whole = find_desc(model, inference, result);
  const std::optional<TensorDesc> half = find_desc(model, inference, ir::result(model, split, 0));
  const std::optional<TensorDesc> other = find_desc(model, inference, ir::result(model, split, 1));
  const bool is_even = whole && half && other && !whole->dims.empty() && half->dims == other->dims &&
                       half->dims.size() == whole->dims.size() && half->dims.back() * 2 == whole->dims.back();
  return is_even ? split : ir::NodeId();
}

bool is_norm_of_rows(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  const std::optional<Layer> layer = find_layer(model, inference, node);
  const std::optional<NormForm> norm = layer ? find_norm(*layer) : std::nullopt;
  return norm && !layer->inputs.front().dims.empty() && norm->inner == layer->inputs.front().dims.back();
}

}  // namespace assay::engine
