#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace assay::tensor {

// An unsigned integer with room for any double times or through the power of ten that makes it a number below ten.
class BigUint {
 public:
  explicit BigUint(uint64_t value) {
    words_[0] = static_cast<uint32_t>(value);
    words_[1] = static_cast<uint32_t>(value >> 32);
    size_ = 2;
    trim();
  }

  void multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (size_t i = 0; i < size_; ++i) {
      carry += uint64_t{words_[i]} * factor;
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_[size_++] = static_cast<uint32_t>(carry);
  }

  void multiply_by_power(uint32_t base, int exponent) {
    for (int i = 0; i < exponent; ++i) multiply(base);
  }

  void shift_left(int bits) {
    constexpr int kStep = 31;
    for (; bits > kStep; bits -= kStep) multiply(uint32_t{1} << kStep);
    multiply(uint32_t{1} << bits);
  }

  void add(const BigUint& other) {
    uint64_t carry = 0;
    const size_t size = std::max(size_, other.size_);
    for (size_t i = 0; i < size; ++i) {
      carry += uint64_t{words_[i]} + other.words_[i];
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    size_ = size;
    if (carry != 0) words_[size_++] = static_cast<uint32_t>(carry);
  }

  // Precondition: other <= *this.
  void subtract(const BigUint& other) {
    int64_t borrow = 0;
    for (size_t i = 0; i < size_; ++i) {
      borrow += int64_t{words_[i]} - other.words_[i];
      words_[i] = static_cast<uint32_t>(borrow);
      borrow >>= 32;
    }
    trim();
  }

  std::strong_ordering operator<=>(const BigUint& other) const {
    if (size_ != other.size_) return size_ <=> other.size_;
    for (size_t i = size_; i-- > 0;) {
      if (words_[i] != other.words_[i]) return words_[i] <=> other.words_[i];
    }
    return std::strong_ordering::equal;
  }
  bool operator==(const BigUint& other) const { return (*this <=> other) == 0; }

 private:
  void trim() {
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
  }

  std::array<uint32_t, 40> words_ = {};  // zero from size_ on
  size_t size_ = 0;
};

}  // namespace assay::tensor
