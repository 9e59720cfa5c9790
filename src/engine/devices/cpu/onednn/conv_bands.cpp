#include "engine/devices/cpu/onednn/conv_bands.h"

#include <algorithm>

namespace assay::engine::cpu::onednn {
namespace {

// The band of a transposed convolution. Rows of the operand that reach beyond the band are cut off, if nothing is left
// to be filled.
Band transposed_band_of(const ConvGeometry& g, int64_t first, int64_t last) {
  const int64_t reach = g.dilation_y * (g.kernel_height - 1) + 1;
  const int64_t top = first + g.pad_top;  // of all that the operand spreads over
  const int64_t in_first = std::clamp<int64_t>((top - reach) / g.stride_y + (top >= reach ? 1 : 0), 0, g.height);
  const int64_t in_last = std::clamp<int64_t>((last - 1 + g.pad_top) / g.stride_y + 1, in_first, g.height);
  const int64_t pad_top = top - in_first * g.stride_y;
  const int64_t spread = (in_last - in_first - 1) * g.stride_y + reach;
  return {last - first, in_first, in_last - in_first, pad_top, spread - pad_top - (last - first)};
}

}  // namespace

Band band_of(const ConvGeometry& g, int64_t first, int64_t last) {
  if (g.is_transposed) return transposed_band_of(g, first, last);
  const int64_t top = first * g.stride_y - g.pad_top;
  const int64_t bottom = (last - 1) * g.stride_y - g.pad_top + g.dilation_y * (g.kernel_height - 1) + 1;
  const int64_t in_first = std::clamp<int64_t>(top, 0, g.height);
  const int64_t in_last = std::clamp<int64_t>(bottom, in_first, g.height);
  return {last - first, in_first, in_last - in_first, in_first - top, bottom - in_last};
}

}  // namespace assay::engine::cpu::onednn
