#include "engine/layers/compressed_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "tensor/float_format.h"

namespace assay::engine {

CompressedWeights::CompressedWeights(const Layer& layer, const CompressedProduct& product)
    : product_(product),
      codes_(layer.constant(product.codes)->bytes()),
      scales_(layer.constant(product.scales.value)->bytes()),
      zeros_(product.zeros.value.valid() ? layer.constant(product.zeros.value)->bytes() : tensor::Bytes()) {}

float CompressedWeights::float_at(tensor::Bytes bytes, int64_t index) const {
  if (product_.dtype == tensor::DType::float32) return reinterpret_cast<const float*>(bytes.data())[index];
  const uint16_t half = reinterpret_cast<const uint16_t*>(bytes.data())[index];
  return static_cast<float>(tensor::decode<tensor::kFloat16>(half));
}

int CompressedWeights::integer_at(tensor::Bytes bytes, int64_t index) const {
  const int bits = product_.bits;
  const auto packed = static_cast<int>(bytes[static_cast<size_t>(bits == 8 ? index : index / 2)]);
  const int code = bits == 8 ? packed : (packed >> (index % 2 * 4)) & 15;
  const int sign = 1 << (bits - 1);
  return product_.is_signed && code >= sign ? code - 2 * sign : code;
}

float CompressedWeights::zero(int64_t block, int64_t column) const {
  if (zeros_.empty()) return product_.zero;
  const int64_t at = index(product_.zeros, block, column);
  return product_.are_zeros_floats ? float_at(zeros_, at) : static_cast<float>(integer_at(zeros_, at));
}

bool CompressedWeights::has_one_zero() const {
  if (zeros_.empty()) return true;
  for (int64_t column = 0; column < product_.columns; ++column) {
    for (int64_t block = 0; block < blocks(); ++block) {
      if (zero(block, column) != zero(0, 0)) return false;
    }
  }
  return true;
}

bool CompressedWeights::are_scales_halves() const {
  if (product_.dtype == tensor::DType::float16) return true;
  const std::span all(reinterpret_cast<const float*>(scales_.data()), scales_.size() / sizeof(float));
  constexpr float kLeast = 0x1p-14F;
  return std::ranges::all_of(all, [](float scale) {
    const bool is_denormal = scale != 0 && std::abs(scale) < kLeast;
    return !is_denormal && std::isfinite(scale) &&
           tensor::decode<tensor::kFloat16>(tensor::encode<tensor::kFloat16>(scale)) == double{scale};
  });
}

std::string CompressedWeights::fingerprint() const {
  const auto hash = [](tensor::Bytes bytes) {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  return fmt::format("{:x} {:x}", hash(scales_), hash(zeros_));
}

}  // namespace assay::engine
