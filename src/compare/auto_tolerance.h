#pragma once

#include <cstdint>
#include <string>

#include "tensor/dtype.h"

namespace assay::compare {

// What is known of how an output was computed.
struct Computation {
  tensor::DType output = tensor::DType::float32;
  tensor::DType coarsest = tensor::DType::float32;  // of the types computed in on the way
  uint64_t accumulation_length = 0;                 // products summed into one element, over the longest path
  uint64_t depth = 1;                               // other roundings on that path: one for each node
  bool transcendental = false;                      // an exp, tanh, … lies on it
  double magnitude = 1;                             // of the output, or of the operands where they cancel: mean of |x|
  uint32_t quantized_bits = 0;  // of the narrowest integers that floats become on the way; 0: none do
};

struct Tolerance {
  double atol = 0;
  double rtol = 0;
  std::string reason;  // one sentence
};

// How far two correct computations may be apart; docs/numerics.md derives it.
Tolerance computed_tolerance(const Computation& computation);

}  // namespace assay::compare
