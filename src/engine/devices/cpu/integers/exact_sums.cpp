#include "engine/devices/cpu/integers/exact_sums.h"

#include <algorithm>
#include <cstdlib>

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {

bool are_sums_exact(tensor::DType codes, const tensor::Tensor& weights) {
  constexpr int kMost = 64;  // 2 * 255 * 64 is less than 2^15
  if (has_avx512_vnni()) return true;
  if (codes != tensor::DType::uint8) return false;
  return std::ranges::all_of(
      weights.bytes(), [](std::byte code) { return std::abs(static_cast<int>(static_cast<int8_t>(code))) <= kMost; });
}

}  // namespace assay::engine::cpu
