#include "engine/layers/conv_geometry.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ops/traits.h"

namespace assay::engine {
namespace {

// The attribute for both dims; a picture of one row has 1 for the other.
std::pair<int64_t, int64_t> pair_of(const ops::Node& facts, const char* name, bool is_flat) {
  const std::vector<int64_t> values = facts.integers(name);
  if (values.empty()) return {1, 1};
  return is_flat ? std::pair(int64_t{1}, values[0]) : std::pair(values[0], values[1]);
}

void set_padding(const ops::Node& facts, bool is_flat, ConvGeometry& g) {
  const int64_t y =
      std::max<int64_t>(0, padding_for(g.height, g.out_height, g.kernel_height, g.stride_y, g.dilation_y));
  const int64_t x = std::max<int64_t>(0, padding_for(g.width, g.out_width, g.kernel_width, g.stride_x, g.dilation_x));
  const std::string_view auto_pad = facts.string("auto_pad", "NOTSET");
  const std::vector<int64_t> pads = facts.integers("pads");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    g.pad_top = first_of_padding(auto_pad, y);
    g.pad_left = first_of_padding(auto_pad, x);
  } else if (auto_pad == "NOTSET" && !pads.empty()) {
    g.pad_top = is_flat ? 0 : pads[0];
    g.pad_left = is_flat ? pads[0] : pads[1];
  }
  g.pad_bottom = y - g.pad_top;
  g.pad_right = x - g.pad_left;
}

// Sets the parts that are cut off; an output padding leaves more of the end, perhaps more than there is.
void set_cuts(const ops::Node& facts, bool is_flat, ConvGeometry& g) {
  const int64_t y = padding_for(g.out_height, g.height, g.kernel_height, g.stride_y, g.dilation_y);
  const int64_t x = padding_for(g.out_width, g.width, g.kernel_width, g.stride_x, g.dilation_x);
  const std::string_view auto_pad = facts.string("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER" || facts.has_attribute("output_shape")) {
    const std::vector<int64_t> added = facts.integers("output_padding");
    const auto first_of = [&](int64_t total) { return first_of_padding(auto_pad, std::max<int64_t>(total, 0)); };
    g.pad_top = is_flat ? 0 : first_of(y + (added.empty() ? 0 : added[0]));
    g.pad_left = first_of(x + (added.empty() ? 0 : added.back()));
  } else if (const std::vector<int64_t> pads = facts.integers("pads"); auto_pad == "NOTSET" && !pads.empty()) {
    g.pad_top = is_flat ? 0 : pads[0];
    g.pad_left = is_flat ? pads[0] : pads[1];
  }
  g.pad_bottom = y - g.pad_top;
  g.pad_right = x - g.pad_left;
}

// A picture of one column is one of one row: channels innermost, both lie alike.
void turn_column(ConvGeometry& g) {
  const bool is_column = g.width == 1 && g.out_width == 1 && g.kernel_width == 1 && g.pad_left == 0 && g.pad_right == 0;
  if (!is_column) return;
  std::swap(g.height, g.width);
  std::swap(g.out_height, g.out_width);
  std::swap(g.kernel_height, g.kernel_width);
  std::swap(g.stride_y, g.stride_x);
  std::swap(g.dilation_y, g.dilation_x);
  std::swap(g.pad_top, g.pad_left);
  std::swap(g.pad_bottom, g.pad_right);
}

}  // namespace

int64_t padding_for(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
  return (out - 1) * stride + dilation * (kernel - 1) + 1 - in;
}

int64_t first_of_padding(std::string_view auto_pad, int64_t total) {
  return auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
}

std::optional<ConvGeometry> conv_geometry(const Layer& layer, ir::NodeId conv, const tensor::Shape& in,
                                          const tensor::Shape& weights) {
  const tensor::Shape out = layer.desc_of(layer.result(conv, 0)).dims;
  if ((in.size() != 3 && in.size() != 4) || layer.outputs[0].dims != out) return std::nullopt;
  const bool is_flat = in.size() == 3;
  const auto rows = [&](const tensor::Shape& shape) { return is_flat ? 1 : shape[2]; };
  const ops::Node facts = layer.facts(conv);
  ConvGeometry g{.batch = in[0], .channels = in[1], .height = rows(in), .width = in.back()};
  g.out_channels = out[1];
  g.out_height = rows(out);
  g.out_width = out.back();
  g.groups = facts.integer("group", 1);
  g.kernel_height = rows(weights);
  g.kernel_width = weights.back();
  std::tie(g.stride_y, g.stride_x) = pair_of(facts, "strides", is_flat);
  std::tie(g.dilation_y, g.dilation_x) = pair_of(facts, "dilations", is_flat);
  g.is_transposed = ops::traits(*layer.model, conv).product == ops::ProductKind::transposed_convolution;
  if (g.is_transposed)
    set_cuts(facts, is_flat, g);
  else
    set_padding(facts, is_flat, g);
  turn_column(g);
  return g;
}

}  // namespace assay::engine
