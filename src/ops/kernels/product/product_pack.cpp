#include "ops/kernels/product/product_pack.h"

#include <algorithm>
#include <type_traits>

namespace assay::ops {
namespace {

constexpr uint64_t kGroup = 4;  // rows that are read before they are transposed together

using Pair [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(8)]] = double;

// out[k * width + r] = rows[r * depth + k]
void transpose_group(const double* rows, uint64_t depth, uint64_t width, double* out) {
  uint64_t k = 0;
  for (; k + 2 <= depth; k += 2) {
    for (uint64_t r = 0; r < kGroup; r += 2) {
      const Pair upper = *reinterpret_cast<const Pair*>(rows + r * depth + k);
      const Pair lower = *reinterpret_cast<const Pair*>(rows + (r + 1) * depth + k);
      *reinterpret_cast<Pair*>(out + k * width + r) = __builtin_shufflevector(upper, lower, 0, 2);
      *reinterpret_cast<Pair*>(out + (k + 1) * width + r) = __builtin_shufflevector(upper, lower, 1, 3);
    }
  }
  if (k == depth) return;
  for (uint64_t r = 0; r < kGroup; ++r) out[k * width + r] = rows[r * depth + k];
}

void transpose_group(const double* rows, uint64_t depth, uint64_t width, float* out) {
  for (uint64_t k = 0; k < depth; ++k) {
    for (uint64_t r = 0; r < kGroup; ++r) out[k * width + r] = static_cast<float>(rows[r * depth + k]);
  }
}

// The next `count` values of a row as `width` lanes.
void copy_lanes(const double* row, uint64_t count, uint64_t width, double* lanes) {
  uint64_t lane = 0;
  for (; lane + 2 <= count; lane += 2) {
    *reinterpret_cast<Pair*>(lanes + lane) = *reinterpret_cast<const Pair*>(row + lane);
  }
  if (lane < count) lanes[lane++] = row[count - 1];
  for (; lane < width; ++lane) lanes[lane] = 0;
}

void copy_lanes(const double* row, uint64_t count, uint64_t width, float* lanes) {
  for (uint64_t lane = 0; lane < width; ++lane) lanes[lane] = lane < count ? static_cast<float>(row[lane]) : 0;
}

template <typename T>
void transpose_row(const double* row, uint64_t depth, uint64_t width, T* out) {
  for (uint64_t k = 0; k < depth; ++k) out[k * width] = static_cast<T>(row[k]);
}

template <typename T>
void zero_lanes(uint64_t begin, uint64_t width, uint64_t depth, T* panel) {
  if (begin == width) return;
  for (uint64_t k = 0; k < depth; ++k) std::fill(panel + k * width + begin, panel + (k + 1) * width, T{0});
}

template <typename T>
void pack_panel_of_rows(ReadRow read, Range items, Range depth, uint64_t width, T* panel) {
  double rows[kGroup * kMostDepth];
  const uint64_t run = depth.count();
  for (uint64_t lane = 0; lane < items.count();) {
    const uint64_t group = std::min(kGroup, items.count() - lane);
    for (uint64_t r = 0; r < group; ++r) read(items.begin + lane + r, depth.begin, {rows + r * run, run});
    if (group == kGroup) {
      transpose_group(rows, run, width, panel + lane);
    } else {
      for (uint64_t r = 0; r < group; ++r) transpose_row(rows + r * run, run, width, panel + lane + r);
    }
    lane += group;
  }
  zero_lanes(items.count(), width, run, panel);
}

}  // namespace

template <typename T>
void pack_item_rows(ReadRow read, const Panels& panels, Range items, Range depth, T* out) {
  for (uint64_t item = 0; item < items.count(); item += panels.width) {
    const uint64_t width = panels.width_at(item, items.count());
    const uint64_t first = items.begin + item;
    pack_panel_of_rows(read, {first, std::min(first + width, items.end)}, depth, width, out + item * depth.count());
  }
}

template <typename T>
void pack_item_columns(ReadRow read, const Panels& panels, Range items, Range depth, T* out) {
  double rows[kGroup * kMostItems];
  const uint64_t count = items.count();
  for (uint64_t k = 0; k < depth.count(); k += kGroup) {
    const uint64_t group = std::min(kGroup, depth.count() - k);
    for (uint64_t r = 0; r < group; ++r) read(depth.begin + k + r, items.begin, {rows + r * count, count});
    for (uint64_t item = 0; item < count; item += panels.width) {
      const uint64_t width = panels.width_at(item, count);
      const uint64_t held = std::min(width, count - item);
      T* lanes = out + item * depth.count() + k * width;
      for (uint64_t r = 0; r < group; ++r) copy_lanes(rows + r * count + item, held, width, lanes + r * width);
    }
  }
}

template <typename T>
void read_item_columns(ReadRow read, uint64_t stride, Range items, Range depth, T* out) {
  double row[kMostItems];
  for (uint64_t k = depth.begin; k < depth.end; ++k, out += stride) {
    if constexpr (std::is_same_v<T, double>) {
      read(k, items.begin, {out, items.count()});
    } else {
      read(k, items.begin, {row, items.count()});
      std::copy_n(row, items.count(), out);
    }
    std::fill(out + items.count(), out + stride, T{0});
  }
}

template void pack_item_rows(ReadRow, const Panels&, Range, Range, double*);
template void pack_item_rows(ReadRow, const Panels&, Range, Range, float*);
template void pack_item_columns(ReadRow, const Panels&, Range, Range, double*);
template void pack_item_columns(ReadRow, const Panels&, Range, Range, float*);
template void read_item_columns(ReadRow, uint64_t, Range, Range, double*);
template void read_item_columns(ReadRow, uint64_t, Range, Range, float*);

}  // namespace assay::ops
