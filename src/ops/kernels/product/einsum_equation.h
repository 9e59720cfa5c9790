#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay::ops {

// A letter, or one of the dims that an ellipsis stands for, counted from the last: -1, -2, ...
using EinsumLabel = int;
using EinsumTerm = std::vector<EinsumLabel>;

// An equation of Einsum with one label for each dim of each input.
struct EinsumLabels {
  std::vector<EinsumTerm> inputs;
  EinsumTerm output;
};

// Error where the equation is malformed.
void check_einsum(std::string_view equation);
// Error where the equation is malformed or does not fit inputs of these ranks.
EinsumLabels einsum_labels(std::string_view equation, std::span<const int64_t> ranks);

}  // namespace assay::ops
