#pragma once

#include <optional>

#include "engine/layers/layer.h"

namespace assay::engine {

// A pool over pictures, alone in its layer.
struct PoolForm {
  int64_t batch, channels, height, width, out_height, out_width;
  int64_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
  bool is_maximum;
  bool counts_padding;
  bool gives_places;     // of the greatest elements, as a second result
  bool is_column_major;  // places count so
};

// True if a layer is a MaxPool that also gives places.
bool gives_places(const Layer& layer);

// Nullopt: another layer, or a pool over three dims, that counts some padding and some not, or takes far more steps
// than it has elements.
std::optional<PoolForm> find_pool(const Layer& layer);

}  // namespace assay::engine
