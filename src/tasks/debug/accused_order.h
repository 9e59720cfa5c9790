#pragma once

#include <span>
#include <string>
#include <vector>

#include "debug/accuracy/walk.h"

namespace assay::tasks {

// The part of an error that is explained by the narrow type in which a side keeps values.
enum class TypeFault {
  none,      // something else is wrong too
  follows,   // right, but its side goes on with numbers in a wider type, and shows them as infinite
  overflows  // likewise, but some of its own numbers are beyond the type
};
TypeFault type_fault(const debug::Accused& accused, tensor::DType stored);

// The two sides of a comparison of models on one backend.
struct ModelSides {
  std::string first;
  std::string second;
};
// True if the backend deviates at this layer in both models, about as far.
bool deviates_in_both(const debug::Accused& accused, std::span<const results::LayerVerdict> layers,
                      const ModelSides& sides);
// Puts first what only the second side has, then what only the first has; of layers that deviate in both models, one of
// each stays, at the end. Returns how many deviate in both.
size_t order_accused(std::vector<debug::Accused>& accused, std::span<const results::LayerVerdict> layers,
                     const ModelSides& sides);

}  // namespace assay::tasks
