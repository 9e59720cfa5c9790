#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace assay::engine {

// Constant codes of 8 bits as int8, and what is left of their zero points where int8 cannot hold the differences.
struct CenteredWeights {
  tensor::Tensor weights;
  std::vector<int> zeros;   // one, or one for each index of the axis; empty: all are 0
  bool is_changed = false;  // otherwise they are the codes that were given
};

// Centers codes whose zero points are one, or one for each index of the axis, as there is in the result if `by_axis`
// permits it. Returns nullopt for other numbers of them, or other codes.
std::optional<CenteredWeights> center(const tensor::Tensor& codes, const std::vector<double>& zeros, size_t axis,
                                      bool by_axis);

}  // namespace assay::engine
