#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu {

// Four words of each of four rows, which begin so many bytes apart, become columns of rows that are `to_row` words
// apart.
inline void turn_square(const void* from, int64_t row_bytes, float* to, int64_t to_row) {
  using Four [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(2)]] = float;
  const auto at = [&](int64_t i) -> Four {
    return *reinterpret_cast<const Four*>(static_cast<const std::byte*>(from) + i * row_bytes);
  };
  const Four a = __builtin_shufflevector(at(0), at(1), 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(at(2), at(3), 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(at(0), at(1), 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(at(2), at(3), 2, 6, 3, 7);
  *reinterpret_cast<Four*>(to) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + to_row) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  *reinterpret_cast<Four*>(to + 2 * to_row) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + 3 * to_row) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

}  // namespace assay::engine::cpu
