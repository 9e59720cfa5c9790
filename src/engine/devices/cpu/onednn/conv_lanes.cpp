#include "engine/devices/cpu/onednn/conv_lanes.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/layers/convolution.h"

namespace assay::engine::cpu::onednn {

bool can_divide_channels(const ConvGeometry& g) {
  constexpr int64_t kLeastChannels = 128;
  constexpr int64_t kFewPixels = int64_t{28} * 28;  // rows are divided if there are more
  const auto lanes = static_cast<int64_t>(thread_count());
  if (lanes == 1 || g.groups > 1 || g.is_transposed) return false;
  return g.out_channels >= std::max(kLeastChannels, lanes * kChannelStep) && g.out_height * g.out_width <= kFewPixels;
}

bool has_few_rows(const ConvGeometry& g) {
  constexpr int64_t kFew = 10;
  return g.batch == 1 && g.out_height < kFew;
}

bool has_uneven_lanes(const Layer& layer) {
  constexpr int64_t kEvenEnough = 8;  // rows of a lane, one more of which is little
  const ConvolutionForm* const source = convolution_of(layer);
  if (source == nullptr || source->is_integer()) return false;
  const ConvGeometry& g = source->geometry;
  const auto lanes = static_cast<int64_t>(thread_count());
  const int64_t rows = g.batch * g.out_height;
  if (rows % lanes == 0 || rows > lanes * kEvenEnough) return false;
  return !has_few_rows(g) || !can_divide_channels(g);
}

}  // namespace assay::engine::cpu::onednn
