#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace assay::compare {

struct Validity {
  uint64_t nan_count = 0;
  uint64_t inf_count = 0;
  std::optional<std::vector<int64_t>> first_nan_at;
  std::optional<std::vector<int64_t>> first_inf_at;

  bool is_valid() const { return nan_count + inf_count == 0; }
};

// Counts elements that are not finite; a complex number is NaN if a part is, otherwise infinite if a part is. Strings
// and integers are always valid.
Validity validate(const tensor::Tensor& tensor);

}  // namespace assay::compare
