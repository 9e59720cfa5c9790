#pragma once

#include <optional>
#include <string_view>

#include "engine/layers/layer.h"

namespace assay::engine {

// A convolution over pictures, channels last; those of one dim, and of one column, are pictures of one row.
struct ConvGeometry {
  int64_t batch, channels, height, width;
  int64_t out_channels, out_height, out_width;
  int64_t groups, kernel_height, kernel_width;
  int64_t stride_y, stride_x, dilation_y, dilation_x;
  int64_t pad_top, pad_left, pad_bottom, pad_right;  // transposed: what is cut off the result
  bool is_transposed = false;
};

// All that a window adds to an operand, which may be negative.
int64_t padding_for(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation);
// The part of the padding that comes first if `auto_pad` is SAME_UPPER or SAME_LOWER.
int64_t first_of_padding(std::string_view auto_pad, int64_t total);

// The geometry of a Conv or ConvTranspose in a layer; nullopt: one over more dims, or another result than the layer's.
std::optional<ConvGeometry> conv_geometry(const Layer& layer, ir::NodeId conv, const tensor::Shape& in,
                                          const tensor::Shape& weights);

}  // namespace assay::engine
