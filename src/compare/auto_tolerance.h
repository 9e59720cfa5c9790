#pragma once

#include <cstdint>
#include <string>

#include "tensor/dtype.h"

namespace assay::compare {

// How an output was computed, as far as known.
struct Computation {
  tensor::DType output = tensor::DType::float32;
  tensor::DType coarsest = tensor::DType::float32;  // of the types computed in on the way
  uint64_t accumulation_length = 0;                 // products summed into one element, over the longest path
  uint64_t depth = 1;                               // other roundings on that path: one for each node
  bool transcendental = false;                      // it contains an exp, tanh, …
  double magnitude = 1;                             // of the output, or of the operands where they cancel: mean of |x|
  uint32_t quantized_bits = 0;                      // of the narrowest integers that floats become on the way; 0: none
};

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  std::string reason;  // one sentence
};

// The greatest difference between two correct computations; derived in docs/numerics.md.
Tolerance computed_tolerance(const Computation& computation);

}  // namespace assay::compare
