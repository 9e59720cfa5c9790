#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "ops/kernels/product/matrix_product.h"

namespace assay::ops {

constexpr uint64_t kMostDepth = 256;   // k's that are packed at once
constexpr uint64_t kMostItems = 1024;  // items that are packed at once

// Uninitialized numbers, aligned to 64 bytes.
template <typename T>
class ScratchArray {
 public:
  explicit ScratchArray(uint64_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}))) {}

  T* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(T* data) const { ::operator delete(data, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Free> data_;
};

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t count() const { return end - begin; }
};

// Items (rows of A or columns of B) in panels of `width`: each panel holds `width` values for each k, one k after the
// other. The last panel is filled with zeros if `padded`, else it is only as wide as the items that are left.
struct Panels {
  uint64_t width = 0;
  bool padded = false;

  // The width of the panel that begins with `item`.
  uint64_t width_at(uint64_t item, uint64_t items) const {
    return padded || items - item > width ? width : items - item;
  }
  uint64_t elements(uint64_t items, uint64_t depth) const {
    return (padded ? (items + width - 1) / width * width : items) * depth;
  }
};

// From a matrix whose rows are items and whose columns are k. T: double, or float.
template <typename T>
void pack_item_rows(ReadRow read, const Panels& panels, Range items, Range depth, T* out);
// From a matrix whose rows are k and whose columns are items.
template <typename T>
void pack_item_columns(ReadRow read, const Panels& panels, Range items, Range depth, T* out);
// Reads the matrix without panels: the rows as they are, `stride` apart and filled with zeros.
template <typename T>
void read_item_columns(ReadRow read, uint64_t stride, Range items, Range depth, T* out);

}  // namespace assay::ops
