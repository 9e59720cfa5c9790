#pragma once

#include <string>
#include <vector>

#include "tensor/shape.h"

namespace assay::tensor {

// How many items numpy shows at each end of an axis of a large array, and whether it leaves some out.
inline constexpr int64_t kEdge = 3;
inline bool is_cut(int64_t dim, bool summarised) { return summarised && dim > 2 * kEdge; }

// The words of an array's shown elements, in order, in numpy's nested brackets. Precondition: rank 1 or more, no zero
// dim.
std::string bracket_text(const Shape& shape, bool summarised, std::vector<std::string> words);

}  // namespace assay::tensor
