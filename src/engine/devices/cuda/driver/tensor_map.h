#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/devices/cuda/driver/card.h"
#include "tensor/dtype.h"

namespace assay::engine::cuda {

// Windows over a picture with channels last, in the order of their results: as many as the box has rows, each at an
// offset that the kernel gives.
struct MappedWindows {
  int pad_left = 0, pad_top = 0;
  int stride_x = 1, stride_y = 1;
  int64_t columns = 1, rows = 1;  // of results
};

// An operand as kernels move parts of it into shared memory: in rows of 128 bytes, whose chunks of 16 are exchanged by
// their number; places outside are zeros. Elements of float32 are rounded to TF32.
struct TensorMap {
  tensor::DType type = tensor::DType::float16;
  std::vector<int64_t> dims;     // innermost first
  std::vector<int64_t> strides;  // elements, of all dims but the first
  std::vector<int64_t> box;      // elements that are moved at once, the first dim's and the rows of windows
  std::optional<MappedWindows> windows;

  uint64_t bytes() const;  // from the first element to the last
};

inline constexpr uint64_t kMapAlignment = 16;  // of an operand's address
using EncodedMap = std::array<std::byte, 128>;
// Error (backend): the driver refuses it.
EncodedMap encoded(const Card& card, const TensorMap& map, uint64_t address);

}  // namespace assay::engine::cuda
