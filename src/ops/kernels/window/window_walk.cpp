#include "ops/kernels/window/window_walk.h"

namespace assay::ops {

uint64_t WindowWalk::padded_size(uint64_t index) const {
  uint64_t size = 1;
  for (size_t i = window_.size(); i-- > 0;) {
    const WindowAxis& axis = window_[i];
    const int64_t start = axis.place(static_cast<int64_t>(index % static_cast<uint64_t>(axis.out)), 0);
    const int64_t room = axis.in + axis.end - start;
    const int64_t count = room > 0 ? std::min(axis.kernel, (room - 1) / axis.dilation + 1) : 0;
    size *= static_cast<uint64_t>(count);
    index /= static_cast<uint64_t>(axis.out);
  }
  return size;
}

}  // namespace assay::ops
