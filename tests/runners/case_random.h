#pragma once

#include <cmath>
#include <cstdint>

namespace assay::cases {

// The numbers of rand(seed, lo, hi): SplitMix64, so that a case has the same inputs everywhere and for ever.
class RandomNumbers {
 public:
  RandomNumbers(uint64_t seed, double low, double high, bool is_real)
      : state_(seed), low_(low), high_(high), is_real_(is_real) {}

  // Evenly from [low, high), or an integer from low to high, both included.
  double next() {
    const double unit = static_cast<double>(next_bits() >> 11) * 0x1p-53;
    if (is_real_) return low_ + unit * (high_ - low_);
    return low_ + std::floor(unit * (high_ - low_ + 1));
  }

 private:
  uint64_t next_bits() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
  }

  uint64_t state_;
  double low_;
  double high_;
  bool is_real_;
};

}  // namespace assay::cases
