#include "engine/devices/cpu/rows/dynamic_codes.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/parallel.h"
#include "engine/devices/cpu/rows/row_kernels.h"
#include "engine/devices/cpu/tape/tape_kernels.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kQuantizerGrain = 1 << 14;  // elements

// Zero lies in it.
std::pair<float, float> range_of(const float* x, uint64_t count) {
  std::mutex mutex;
  float least = 0;
  float greatest = 0;
  parallel_for(count, kQuantizerGrain, [&](uint64_t begin, uint64_t end) {
    float low = 0;
    float high = 0;
    row_kernels().range(x + begin, end - begin, low, high);
    const std::lock_guard guard(mutex);
    least = std::min(least, low);
    greatest = std::max(greatest, high);
  });
  return {least, greatest};
}

void quantize(const float* x, uint64_t count, const DynamicScale& by, uint8_t* out) {
  parallel_for((count + kTapeTile - 1) / kTapeTile, kQuantizerGrain / kTapeTile, [&](uint64_t begin, uint64_t end) {
    alignas(64) float tile[kTapeTile];
    for (uint64_t at = begin * kTapeTile; at < std::min(end * kTapeTile, count); at += kTapeTile) {
      const size_t size = std::min<uint64_t>(kTapeTile, count - at);
      std::copy_n(x + at, size, tile);  // kernels read whole vectors
      tape_kernels().unary(ElementOp::quantize_unsigned, {tile, 0}, {tile, 0, 1, size}, by.scale, by.zero);
      row_kernels().narrow_byte(tile, out + at, size);
    }
  });
}

}  // namespace

DynamicScale make_dynamic_codes(const float* x, uint64_t count, uint8_t* codes) {
  constexpr float kMostCode = 255;
  const auto [least, greatest] = range_of(x, count);
  DynamicScale made;
  if (greatest != least) made.scale = (greatest - least) / kMostCode;
  const float code = std::nearbyint(-least / made.scale);
  made.zero = static_cast<uint8_t>(code > 0 ? std::min(code, kMostCode) : 0);  // 0 for NaN
  quantize(x, count, made, codes);
  return made;
}

}  // namespace assay::engine::cpu
