#include "compare/measuring/ulp.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/casts.h"

namespace assay::compare {
namespace {

using tensor::DType;

template <typename Code>
struct alignas(64) Codes {
  Code of[kTile] = {};
};

// Elements of less than 16 bits as a sign in the highest bit and the magnitude.
uint16_t small_code(DType type, double x) {
  std::byte packed[1] = {};
  tensor::store(type, std::span<const double>(&x, 1), 0, packed);
  const auto code = std::to_integer<uint16_t>(packed[0]);
  if (type == DType::float8e8m0) return code;
  const auto sign = static_cast<uint16_t>(1U << (tensor::bit_width(type) - 1));
  return static_cast<uint16_t>((code & (sign - 1)) | ((code & sign) != 0 ? 0x8000 : 0));
}

template <typename Code>
void encode(DType type, const tensor::Tensor& tensor, uint64_t number, std::span<const double> elements,
            Codes<Code>& codes) {
  if (tensor::bit_width(type) != 8 * sizeof(Code)) {
    for (size_t i = 0; i < elements.size(); ++i) codes.of[i] = static_cast<Code>(small_code(type, elements[i]));
  } else if (tensor.dtype() == type) {
    memcpy(codes.of, tensor.bytes().data() + number * kTile * sizeof(Code), elements.size() * sizeof(Code));
  } else {
    tensor::store(type, elements, 0, std::as_writable_bytes(std::span(codes.of)));
  }
}

template <typename Code>
uint64_t max_ulp_stored(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t number,
                        uint64_t (*kernel)(const Code*, const Code*)) {
  const uint64_t offset_bytes = number * kTile * sizeof(Code);
  return kernel(reinterpret_cast<const Code*>(a.bytes().data() + offset_bytes),
                reinterpret_cast<const Code*>(b.bytes().data() + offset_bytes));
}

template <typename Code>
uint64_t max_ulp_in(const UlpPair& pair, uint64_t number, const Tile& tile,
                    uint64_t (*kernel)(const Code*, const Code*)) {
  const bool as_stored = pair.a.dtype() == pair.b.dtype() && tensor::bit_width(pair.type) == 8 * sizeof(Code);
  if (as_stored && pair.finite && tile.size == kTile) return max_ulp_stored(pair.a, pair.b, number, kernel);
  Codes<Code> a, b;
  encode(pair.type, pair.a, number, tile.elements(0), a);
  encode(pair.type, pair.b, number, tile.elements(1), b);
  if (pair.finite) return kernel(a.of, b.of);
  bool nan_against_number = false;
  for (uint64_t i = 0; i < tile.size; ++i) {
    const bool a_is_nan = std::isnan(tile.series[0][i]);
    const bool b_is_nan = std::isnan(tile.series[1][i]);
    nan_against_number |= a_is_nan != b_is_nan;
    if (a_is_nan || b_is_nan) a.of[i] = b.of[i] = 0;
  }
  return nan_against_number ? std::numeric_limits<uint64_t>::max() : kernel(a.of, b.of);
}

}  // namespace

DType ulp_type(DType a, DType b) {
  if (!tensor::is_floating(a)) return tensor::is_floating(b) ? b : DType::undefined;
  if (!tensor::is_floating(b) || a == b) return a;
  const uint32_t bits_a = tensor::bit_width(a);
  const uint32_t bits_b = tensor::bit_width(b);
  if (bits_a != bits_b) return bits_a < bits_b ? a : b;
  return a == DType::bfloat16 ? a : b;
}

uint64_t max_ulp_as_stored(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t number,
                           const TileKernels& kernels) {
  switch (tensor::bit_width(a.dtype())) {
    case 64:
      return max_ulp_stored(a, b, number, kernels.ulp64);
    case 32:
      return max_ulp_stored(a, b, number, kernels.ulp32);
    default:
      return max_ulp_stored(a, b, number, kernels.ulp16);
  }
}

uint64_t max_ulp_of_floats(const UlpPair& pair, uint64_t number, const Tile& tile, const TileKernels& kernels) {
  switch (tensor::bit_width(pair.type)) {
    case 64:
      return max_ulp_in(pair, number, tile, kernels.ulp64);
    case 32:
      return max_ulp_in(pair, number, tile, kernels.ulp32);
    default:
      return max_ulp_in(pair, number, tile, kernels.ulp16);
  }
}

}  // namespace assay::compare
