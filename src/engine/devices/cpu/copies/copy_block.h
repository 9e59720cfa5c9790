#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/devices/cpu/copies/copy_dims.h"
#include "engine/devices/cpu/rows/row_kernels.h"

namespace assay::engine::cpu {

// Columns of a block that is copied across; fewer are the channels of a picture, perhaps.
constexpr int64_t kCopyBlock = 16;

// Rows and columns of elements, the columns innermost on the side that is written.
template <typename T>
struct CopyBlock {
  const T* from;
  T* to;
  CopyDim rows;
  CopyDim columns;
};

// The numbers that 16 bytes hold.
template <typename T>
struct CopyGroup {
  static constexpr size_t kCount = 16 / sizeof(T);
  using Lanes [[gnu::vector_size(16)]] = T;
};

template <typename T, size_t kFirst, size_t... kIndex>
typename CopyGroup<T>::Lanes zipped_lanes(typename CopyGroup<T>::Lanes a, typename CopyGroup<T>::Lanes b,
                                          std::index_sequence<kIndex...>) {
  constexpr size_t kCount = CopyGroup<T>::kCount;
  return __builtin_shufflevector(a, b, (kFirst + kIndex / 2 + kIndex % 2 * kCount)...);
}
// The lower halves of two vectors, one element of each in turn, and the upper ones.
template <typename T>
void zip(typename CopyGroup<T>::Lanes a, typename CopyGroup<T>::Lanes b, typename CopyGroup<T>::Lanes* out) {
  constexpr auto kLanes = std::make_index_sequence<CopyGroup<T>::kCount>();
  out[0] = zipped_lanes<T, 0>(a, b, kLanes);
  out[1] = zipped_lanes<T, CopyGroup<T>::kCount / 2>(a, b, kLanes);
}

// A square of as many rows and columns as a vector holds, turned.
template <typename T>
void turn_square(const T* from, int64_t from_row, T* to, int64_t to_row) {
  constexpr size_t kCount = CopyGroup<T>::kCount;
  typename CopyGroup<T>::Lanes rows[kCount];
  typename CopyGroup<T>::Lanes zips[kCount];
  for (size_t i = 0; i < kCount; ++i) std::memcpy(&rows[i], from + static_cast<int64_t>(i) * from_row, sizeof rows[i]);
  for (size_t stage = 1; stage < kCount; stage *= 2) {
    for (size_t i = 0; i < kCount / 2; ++i) zip<T>(rows[i], rows[i + kCount / 2], zips + 2 * i);
    std::ranges::copy(zips, rows);
  }
  for (size_t i = 0; i < kCount; ++i) std::memcpy(to + static_cast<int64_t>(i) * to_row, &rows[i], sizeof rows[i]);
}

// kCopyBlock columns from `column` on, of as many rows as whole squares have; returns how many.
template <typename T>
int64_t turn_columns(const CopyBlock<T>& block, int64_t column) {
  constexpr auto kSide = static_cast<int64_t>(CopyGroup<T>::kCount);
  int64_t r = 0;
  for (; r + kSide <= block.rows.size; r += kSide) {
    for (int64_t c = column; c < column + kCopyBlock; c += kSide) {
      turn_square(block.from + c * block.columns.from + r, block.columns.from, block.to + r * block.rows.to + c,
                  block.rows.to);
    }
  }
  return r;
}

// Pictures of four channels, one after the other, pixel by pixel.
template <typename T>
void interleave4(const T* from, int64_t channel, T* to, int64_t count) {
  using Lanes = typename CopyGroup<T>::Lanes;
  constexpr auto kCount = static_cast<int64_t>(CopyGroup<T>::kCount);
  int64_t i = 0;
  for (; i + kCount <= count; i += kCount) {
    Lanes read[4];
    Lanes even[2];
    Lanes odd[2];
    Lanes out[4];
    for (int64_t c = 0; c < 4; ++c) std::memcpy(&read[c], from + c * channel + i, sizeof(Lanes));
    zip<T>(read[0], read[2], even);
    zip<T>(read[1], read[3], odd);
    zip<T>(even[0], odd[0], out);
    zip<T>(even[1], odd[1], out + 2);
    std::memcpy(to + 4 * i, out, sizeof(out));
  }
  for (; i < count; ++i) {
    for (int64_t c = 0; c < 4; ++c) to[4 * i + c] = from[c * channel + i];
  }
}

// Interleaves two channels.
template <typename T>
void interleave2(const T* from, int64_t channel, T* to, int64_t count) {
  using Lanes = typename CopyGroup<T>::Lanes;
  constexpr auto kCount = static_cast<int64_t>(CopyGroup<T>::kCount);
  int64_t i = 0;
  for (; i + kCount <= count; i += kCount) {
    Lanes read[2];
    Lanes out[2];
    for (int64_t c = 0; c < 2; ++c) std::memcpy(&read[c], from + c * channel + i, sizeof(Lanes));
    zip<T>(read[0], read[1], out);
    std::memcpy(to + 2 * i, out, sizeof(out));
  }
  for (; i < count; ++i) {
    for (int64_t c = 0; c < 2; ++c) to[2 * i + c] = from[c * channel + i];
  }
}

// Interleaves three channels.
template <typename T>
void interleave3(const T* from, int64_t channel, T* to, int64_t count) {
  const auto kernel = [&](auto interleave, auto element) {
    using Element = decltype(element);
    const auto* const first = reinterpret_cast<const Element*>(from);
    const Element* const rows[] = {first, first + channel, first + 2 * channel};
    interleave(rows, reinterpret_cast<Element*>(to), static_cast<size_t>(count));
  };
  if constexpr (sizeof(T) == 1)
    kernel(row_kernels().interleave3_bytes, uint8_t{});
  else if constexpr (sizeof(T) == 2)
    kernel(row_kernels().interleave3_halves, uint16_t{});
  else
    kernel(row_kernels().interleave3, float{});
}

// Interleaves the channels of a block. Returns false if their number has no loop.
template <typename T>
bool interleave(const CopyBlock<T>& block) {
  const int64_t channels = block.columns.size;
  const bool is_picture = block.rows.from == 1 && block.rows.to == channels && block.columns.to == 1;
  if (!is_picture || channels < 2 || channels > 4) return false;
  const auto run = channels == 2 ? interleave2<T> : channels == 3 ? interleave3<T> : interleave4<T>;
  run(block.from, block.columns.from, block.to, block.rows.size);
  return true;
}

// In square tiles: one side is always read or written across.
template <typename T>
void copy_block(const CopyBlock<T>& block) {
  const CopyDim& rows = block.rows;
  const CopyDim& columns = block.columns;
  if constexpr (sizeof(T) <= 4) {
    if (interleave(block)) return;
  }
  if (columns.from == 1 && columns.to == 1) {
    for (int64_t r = 0; r < rows.size; ++r) {
      std::memcpy(block.to + r * rows.to, block.from + r * rows.from, static_cast<size_t>(columns.size) * sizeof(T));
    }
    return;
  }
  for (int64_t c = 0; c < columns.size; c += kCopyBlock) {
    const int64_t end = std::min(c + kCopyBlock, columns.size);
    int64_t done = 0;
    if constexpr (sizeof(T) <= 4) {
      if (rows.from == 1 && columns.to == 1 && end == c + kCopyBlock) done = turn_columns(block, c);
    }
    for (int64_t r = done; r < rows.size; ++r) {
      const T* const source = block.from + r * rows.from;
      T* const target = block.to + r * rows.to;
      for (int64_t i = c; i < end; ++i) target[i * columns.to] = source[i * columns.from];
    }
  }
}

}  // namespace assay::engine::cpu
