#pragma once

#include "engine/layer.h"

namespace assay::engine::cpu {

// A pool over pictures.
struct PoolGeometry {
  int64_t batch, channels, height, width, out_height, out_width;
  int64_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
  bool is_maximum;
  bool counts_padding;
};

// True if a layer is a MaxPool that also gives the places of the greatest elements.
bool gives_places(const Layer& layer);

// The geometry of a layer that is one pool over one or two dims; nullopt: one that counts some padding and some not, or
// takes far more steps than it has elements.
std::optional<PoolGeometry> pool_geometry(const Layer& layer);

}  // namespace assay::engine::cpu
