#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace assay {

// The streams of numpy.random.RandomState(seed), the same on every machine: the Mersenne Twister MT19937, doubles made
// of 53 bits, normal numbers by Marsaglia's polar method.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : engine_(seed) {}

  double uniform();  // in [0, 1)
  double normal();   // mean 0, deviation 1
  // randint(low, high + 1, dtype=…) for integers of `bits` bits; booleans have 1.
  void integers(int64_t low, int64_t high, uint32_t bits, std::span<int64_t> out);

 private:
  std::mt19937 engine_;
  double next_normal_ = 0;
  bool has_next_ = false;
};

}  // namespace assay
