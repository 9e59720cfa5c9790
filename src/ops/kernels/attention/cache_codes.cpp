#include "ops/kernels/attention/cache_codes.h"

#include <algorithm>
#include <cmath>

namespace assay::ops {

CacheCodes::CacheCodes(const Node& node, std::string_view kind) {
  const std::string_view word = node.string(kind);
  if (word == "NONE") return;
  if (word != "PER_TENSOR" && word != "PER_CHANNEL") fail(ErrorCode::shape, "attribute `{}` is `{}`", kind, word);
  bits_ = node.integer("kv_cache_bit_width", 0);
  if (bits_ != 4 && bits_ != 8) fail(ErrorCode::shape, "attribute `kv_cache_bit_width` is {}, expected 4 or 8", bits_);
  is_by_channel_ = word == "PER_CHANNEL";
}

void CacheCodes::check(const Infer& node, uint32_t cache, uint32_t scales) const {
  if (!are_used()) return;
  if (!node.has(scales)) fail(ErrorCode::shape, "a cache of codes needs its scale, input {}", scales);
  if (node.has(cache) && node.dtype(cache) == DType::float8e4m3fn)
    fail(ErrorCode::unsupported, "caches of float8 are not supported");
  if (node.has(cache) && node.dtype(cache) != DType::undefined && node.dtype(cache) != dtype())
    fail(ErrorCode::shape, "a cache with codes of {} bits has the type {}", bits_, tensor::name(node.dtype(cache)));
}

void CacheCodes::read_scales(const Eval& node, uint32_t scales, uint64_t heads, uint64_t size) {
  size_ = size;
  scales_.resize(heads * size);
  if (!are_used()) return;
  const Tensor& given = node.tensor_in(scales);
  if (given.count() != (is_by_channel_ ? scales_.size() : 1))
    fail(ErrorCode::shape, "a cache of {} heads of {} has {} scales", heads, size, given.count());
  const std::vector<double> numbers = node.load<double>(scales);
  for (uint64_t i = 0; i < scales_.size(); ++i) scales_[i] = numbers[is_by_channel_ ? i : 0];
}

int64_t CacheCodes::code(double number, uint64_t place) const {
  const double largest = bits_ == 8 ? 127 : 7;
  const double divided = std::nearbyint(number / scales_[place]);
  return std::isnan(divided) ? 0 : static_cast<int64_t>(std::clamp(divided, -largest - 1, largest));
}

std::vector<double> CacheCodes::decoded(const Eval& node, uint32_t cache) const {
  const std::vector<int64_t> bytes = node.integers_in(cache);
  const auto length = static_cast<uint64_t>(node.shape(cache)[2]);
  const uint64_t width = bits_ == 8 ? size_ : (size_ + 1) / 2;
  std::vector<double> numbers(width == 0 ? 0 : bytes.size() / width * size_);
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    const uint64_t line = i / size_;
    const uint64_t at = i % size_;
    const int64_t byte = bytes[line * width + (bits_ == 8 ? at : at / 2)];
    const int64_t code = bits_ == 8 ? byte : ((at % 2 == 0 ? byte & 15 : byte >> 4) - 8);
    const uint64_t place = line / length % (scales_.size() / size_) * size_ + at;
    numbers[i] = static_cast<double>(code) * scales_[place];
  }
  return numbers;
}

std::vector<int64_t> CacheCodes::encoded(const std::vector<double>& numbers, uint64_t length) const {
  const uint64_t width = bits_ == 8 ? size_ : (size_ + 1) / 2;
  std::vector<int64_t> bytes(size_ == 0 ? 0 : numbers.size() / size_ * width, bits_ == 8 || size_ % 2 == 0 ? 0 : 0x80);
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    const uint64_t line = i / size_;
    const uint64_t at = i % size_;
    const int64_t code = this->code(numbers[i], line / length % (scales_.size() / size_) * size_ + at);
    if (bits_ == 8) {
      bytes[i] = code;
      continue;
    }
    int64_t& byte = bytes[line * width + at / 2];
    byte = at % 2 == 0 ? (byte & 0xF0) | (code + 8) : (byte & 0x0F) | (code + 8) << 4;
  }
  return bytes;
}

}  // namespace assay::ops
