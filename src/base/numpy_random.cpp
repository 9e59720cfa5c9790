#include "base/numpy_random.h"

#include <bit>
#include <cmath>

namespace assay {

double NumpyRandom::uniform() {
  const uint64_t high = engine_() >> 5;
  const uint64_t low = engine_() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

double NumpyRandom::normal() {
  if (has_next_) {
    has_next_ = false;
    return next_normal_;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  next_normal_ = factor * x;
  has_next_ = true;
  return factor * y;
}

// Bits are drawn under the smallest mask that covers the range and thrown away while they are beyond it. Narrow types
// take several draws out of one word of 32 bits; each call starts with a new word.
void NumpyRandom::integers(int64_t low, int64_t high, uint32_t bits, std::span<int64_t> out) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t mask = range == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(range);
  const uint32_t step = bits < 32 ? bits : 32;
  uint32_t word = 0;
  uint32_t left = 0;
  const auto draw = [&]() -> uint64_t {
    if (range > UINT32_MAX) {
      const uint64_t upper = engine_();
      return upper << 32 | engine_();
    }
    if (step == 32) return engine_();
    if (left == 0) {
      word = static_cast<uint32_t>(engine_());
      left = 32 / step;
    } else {
      word >>= step;
    }
    --left;
    return word;
  };
  for (int64_t& value : out) {
    uint64_t drawn = 0;
    if (range != 0) {
      do drawn = draw() & mask;
      while (drawn > range);
    }
    value = static_cast<int64_t>(static_cast<uint64_t>(low) + drawn);
  }
}

}  // namespace assay
