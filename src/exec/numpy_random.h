#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace assay::exec {

// The stream of numpy.random.RandomState(seed), so that a seed gives the inputs that it gives in the peer.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : engine_(seed) {}

  // random_sample(): uniform in [0, 1).
  void uniform(std::span<double> out);
  // randint(low, high + 1, dtype=…) for integers of `bits` bits; booleans have 1.
  void integers(int64_t low, int64_t high, uint32_t bits, std::span<int64_t> out);

 private:
  std::mt19937 engine_;
};

}  // namespace assay::exec
