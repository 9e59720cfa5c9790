#include "exec/numpy_random.h"

#include <bit>

namespace assay::exec {

void NumpyRandom::uniform(std::span<double> out) {
  for (double& x : out) {
    const double high = engine_() >> 5;
    const double low = engine_() >> 6;
    x = (high * 67108864.0 + low) / 9007199254740992.0;
  }
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

}  // namespace assay::exec
