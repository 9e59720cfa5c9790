#pragma once

#include "engine/layers/layer.h"

namespace assay::engine::cpu {

// A pool over pictures.
struct PoolGeometry {
  int64_t batch, channels, height, width, out_height, out_width;
  int64_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
  bool is_maximum;
  bool counts_padding;
};

// Whether a layer is a MaxPool that also says where the greatest elements are.
bool gives_places(const Layer& layer);

// Of a layer that is one pool over one or two dims; nullopt: one that counts some padding and some not, or takes far
// more steps than it has elements.
std::optional<PoolGeometry> pool_geometry(const Layer& layer);

}  // namespace assay::engine::cpu
