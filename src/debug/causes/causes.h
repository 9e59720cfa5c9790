#pragma once

#include <string>

#include "debug/accuracy/walk.h"

namespace assay::debug {

struct Counterpart;

// A reason why a layer differs from its exact result, as far as it is known.
struct Cause {
  std::string word;    // `overflow`; `unknown` if nothing explains the numbers
  std::string reason;  // one sentence
};

struct CauseCase {
  const ir::Model& model;
  const Accused& accused;
  tensor::DType stored = tensor::DType::undefined;  // in which the side keeps the result
  const Counterpart* other = nullptr;               // of a side that runs another model
};

// Compares the layer with its counterpart, reads the numbers, and tries what else the layer could be: other constants,
// attributes, operators, a narrower type. A cause that was fitted to some elements has to explain the others.
Cause find_cause(const CauseCase& given);

}  // namespace assay::debug
