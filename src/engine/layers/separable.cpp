#include "engine/layers/separable.h"

#include <algorithm>

#include "ops/traits.h"

namespace assay::engine {
namespace {

constexpr int64_t kPack = 8;  // elements of 16 bits in 16 bytes

bool is_of_halves(const Layer& layer, const ConvolutionForm& form) {
  const tensor::DType dtype = layer.inputs[static_cast<size_t>(form.data)].dtype;
  return !form.is_integer() && (dtype == tensor::DType::float16 || dtype == tensor::DType::bfloat16) &&
         layer.inputs[static_cast<size_t>(form.data)].dims.size() == 4 && !form.geometry.is_transposed;
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
  return {part_until(layer, nodes.first(form.pointwise), Layout::channels_last, between),
          part_of(layer, nodes.subspan(form.pointwise), Layout::channels_last)};
}

}  // namespace assay::engine
