#include "tensor/ordinary_numbers.h"

#include <cstring>

namespace assay::tensor {

Tensor ordinary_numbers(DType dtype, Shape shape) {
  const auto [base, mask] = dtype == DType::float16    ? std::pair(0x38003800U, 0x83ff83ffU)
                            : dtype == DType::bfloat16 ? std::pair(0x3f003f00U, 0x807f807fU)
                                                       : std::pair(0x3f000000U, 0x807fffffU);
  uint64_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<uint64_t>(dim);
  std::vector<std::byte> bytes(count * bit_width(dtype) / 8);
  uint32_t drawn = 1;
  for (size_t at = 0; at < bytes.size(); at += sizeof drawn) {
    drawn = drawn * 1664525U + 1013904223U;
    const uint32_t word = base | ((drawn >> 8 ^ drawn << 8) & mask);  // low bits alone would repeat soon
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
  return {dtype, std::move(shape), make_owned(std::move(bytes))};
}

}  // namespace assay::tensor
