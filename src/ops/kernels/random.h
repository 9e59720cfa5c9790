#pragma once

#include <cstdint>
#include <random>

#include "ops/eval.h"

namespace assay::ops {

// Random numbers that a seed reproduces on every machine: the Mersenne Twister MT19937 seeded with 32 bits, doubles
// made of 53 bits, normal numbers by Marsaglia's polar method. These are the streams of NumPy's RandomState.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(static_cast<uint32_t>(seed ^ (seed >> 32))) {}

  double uniform();  // in [0, 1)
  double normal();   // mean 0, deviation 1

 private:
  std::mt19937 engine_;
  double next_normal_ = 0;
  bool has_next_ = false;
};

// The generator of a node: by its attribute `seed`, a float or an integer, else by the run's next seed.
Random random_of(const Eval& node);

}  // namespace assay::ops
