#include "engine/layers/separable.h"

#include <algorithm>
#include <set>

#include "ops/traits.h"

namespace assay::engine {
namespace {

constexpr int64_t kPack = 8;  // elements of 16 bits in 16 bytes

bool is_of_halves(const Layer& layer, const ConvolutionForm& form) {
  const tensor::DType dtype = layer.inputs[static_cast<size_t>(form.data)].dtype;
  return !form.is_integer() && (dtype == tensor::DType::float16 || dtype == tensor::DType::bfloat16) &&
         layer.inputs[static_cast<size_t>(form.data)].dims.size() == 4 && !form.geometry.is_transposed;
}

// Nodes of a layer as one of their own, of which `given` is what they read of the nodes before.
SeparablePart part_of(const Layer& whole, std::span<const ir::NodeId> nodes, ir::ValueId given) {
  SeparablePart part{.layer = whole};
  Layer& layer = part.layer;
  layer.form = nullptr;
  layer.nodes.assign(nodes.begin(), nodes.end());
  layer.input_values.clear();
  layer.inputs.clear();
  layer.constants.clear();
  std::set<ir::ValueId> known;
  for (const ir::NodeId node : nodes) {
    for (const ir::Use& use : (*whole.model)[node].operands) {
      if (!use.value.valid() || !known.insert(use.value).second) continue;
      const int input = use.value == given ? -1 : whole.input_of(use.value);
      layer.input_values.push_back(use.value);
      part.inputs.push_back(input);
      const TensorDesc between = whole.desc_of(use.value);
      layer.inputs.push_back(input < 0 ? make_desc(between.dtype, between.dims, Layout::channels_last)
                                       : whole.inputs[static_cast<size_t>(input)]);
      layer.constants.push_back(input < 0 ? nullptr : whole.constants[static_cast<size_t>(input)]);
    }
    const auto results = (*whole.model)[node].results;
    known.insert(results.begin(), results.end());
  }
  return part;
}

}  // namespace

bool opens_separable(const Layer& layer) {
  const std::optional<ConvolutionForm> form = find_convolution(layer);
  if (!form || !is_of_halves(layer, *form)) return false;
  const ConvGeometry& g = form->geometry;
  const bool is_window = g.kernel_height == g.kernel_width && (g.kernel_height == 3 || g.kernel_height == 5);
  const bool steps = g.stride_y == g.stride_x && g.stride_y <= 2 && g.dilation_y == 1 && g.dilation_x == 1;
  return is_window && steps && g.groups == g.channels && g.out_channels == g.channels && g.channels % kPack == 0;
}

bool ends_separable(const Layer& layer) {
  const std::optional<ConvolutionForm> form = find_convolution(layer);
  if (!form || !is_of_halves(layer, *form)) return false;
  const ConvGeometry& g = form->geometry;
  return g.kernel_height == 1 && g.kernel_width == 1 && g.groups == 1 && g.stride_y == 1 && g.stride_x == 1 &&
         g.out_height == g.height && g.out_width == g.width && g.pad_top == 0 && g.pad_left == 0;
}

std::optional<SeparableForm> find_separable(const Layer& layer) {
  const auto is_convolution = [&](ir::NodeId node) {
    return ops::traits(*layer.model, node).product == ops::ProductKind::convolution;
  };
  if (layer.outputs.size() != 1 || !is_convolution(layer.nodes.front())) return std::nullopt;
  const auto second = std::find_if(layer.nodes.begin() + 1, layer.nodes.end(), is_convolution);
  if (second == layer.nodes.end()) return std::nullopt;
  const SeparableForm form{static_cast<size_t>(second - layer.nodes.begin())};
  const bool goes_on = layer.operand(*second, 0) == layer.result(*(second - 1), 0);
  if (!goes_on) return std::nullopt;
  const Separated parts = separated(layer, form);
  const bool is_known = opens_separable(parts.depthwise.layer) && ends_separable(parts.pointwise.layer);
  return is_known ? std::optional(form) : std::nullopt;
}

Separated separated(const Layer& layer, const SeparableForm& form) {
  const std::span<const ir::NodeId> nodes(layer.nodes);
  const ir::ValueId between = layer.result(nodes[form.pointwise - 1], 0);
  Separated made{part_of(layer, nodes.first(form.pointwise), {}),
                 part_of(layer, nodes.subspan(form.pointwise), between)};
  const TensorDesc desc = layer.desc_of(between);
  made.depthwise.layer.outputs = {make_desc(desc.dtype, desc.dims, Layout::channels_last)};
  made.depthwise.layer.output_values = {between};
  return made;
}

}  // namespace assay::engine
