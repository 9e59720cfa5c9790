#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::tensor {

// Concrete dims of a tensor, none of them negative.
using Shape = std::vector<int64_t>;

// Product of the dims (1 for a scalar); empty if a dim is negative or the product overflows 63 bits.
std::optional<uint64_t> element_count(std::span<const int64_t> dims);

}  // namespace assay::tensor
