#pragma once

#include <optional>
#include <span>
#include <string>

#include "tensor/tensor.h"

namespace assay::compare {

struct MatchedTensor {
  tensor::Tensor tensor;
  std::string what;  // the change, as a sentence; empty: none was needed
};

// The tensor with the dims of `target`, in which -1 stands for any: permuted if the dims are those of the target in
// another order, otherwise reshaped. Empty if that is not possible.
std::optional<MatchedTensor> match_shape(const tensor::Tensor& tensor, std::span<const int64_t> target);

}  // namespace assay::compare
