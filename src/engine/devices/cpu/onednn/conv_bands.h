#pragma once

#include <compare>
#include <cstdint>

#include "engine/layers/conv_geometry.h"

namespace assay::engine::cpu::onednn {

// Rows of the result that are computed at once, and what of the operand they need.
struct Band {
  int64_t out_rows, in_first, in_rows, pad_top, pad_bottom;
  auto operator<=>(const Band&) const = default;
};

// Rows [first, last) of one picture of the result.
Band band_of(const ConvGeometry& g, int64_t first, int64_t last);

}  // namespace assay::engine::cpu::onednn
