#include "engine/devices/cuda/driver/tensor_map.h"

#include <algorithm>

namespace assay::engine::cuda {
namespace {

// Numbers of CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion.
constexpr int kBytes = 0, kHalf = 6, kBfloat = 9, kTf32 = 11;

int number_of(tensor::DType type) {
  if (type == tensor::DType::float8e4m3fn) return kBytes;
  if (type == tensor::DType::float32) return kTf32;
  return type == tensor::DType::float16 ? kHalf : kBfloat;
}
constexpr int kExchangedIn128 = 3;
constexpr int kPromoted128 = 2;
constexpr int kNone = 0;

// The corner of the last window, from the picture's last pixel on.
int last_corner(int64_t results, int stride, int pad, int64_t pixels) {
  return static_cast<int>((results - 1) * stride - pad - (pixels - 1));
}

}  // namespace

uint64_t TensorMap::bytes() const {
  int64_t last = dims[0] - 1;
  for (size_t i = 1; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i - 1];
  return static_cast<uint64_t>(last + 1) * static_cast<uint64_t>(tensor::bit_width(type) / 8);
}

EncodedMap encoded(const Card& card, const TensorMap& map, uint64_t address) {
  struct alignas(64) Aligned {
    EncodedMap map;
  } made;
  const auto rank = static_cast<unsigned>(map.dims.size());
  const std::vector<uint64_t> dims(map.dims.begin(), map.dims.end());
  std::vector<uint64_t> strides;
  for (const int64_t stride : map.strides) {
    strides.push_back(static_cast<uint64_t>(stride * tensor::bit_width(map.type) / 8));
  }
  card.enter();
  const std::vector<unsigned> box(map.box.begin(), map.box.end());
  const int type = number_of(map.type);
  std::vector<unsigned> steps(rank, 1);
  Result result = kSuccess;
  if (map.windows) {
    const MappedWindows& w = *map.windows;
    steps[1] = static_cast<unsigned>(w.stride_x);
    steps[2] = static_cast<unsigned>(w.stride_y);
    const std::array<int, 2> first = {-w.pad_left, -w.pad_top};
    const std::array<int, 2> last = {last_corner(w.columns, w.stride_x, w.pad_left, map.dims[1]),
                                     last_corner(w.rows, w.stride_y, w.pad_top, map.dims[2])};
    result = card.api().map_windows(&made, type, rank, address, dims.data(), strides.data(), first.data(), last.data(),
                                    box[0], box[1], steps.data(), kNone, kExchangedIn128, kPromoted128, kNone);
  } else {
    result = card.api().map_boxes(&made, type, rank, address, dims.data(), strides.data(), box.data(), steps.data(),
                                  kNone, kExchangedIn128, kPromoted128, kNone);
  }
  card.driver().check(result, "a map of an operand");
  return made.map;
}

}  // namespace assay::engine::cuda
