#pragma once

#include <string>
#include <vector>

#include "tensor/shape.h"

namespace assay::tensor {

// How a large array is cut, if it is, and how wide lines may be.
struct BracketLayout {
  bool summarised = false;
  int64_t edge_items = 3;
  uint64_t line_width = 75;
  bool is_cut(int64_t dim) const { return summarised && dim - edge_items > edge_items; }
};

// The words of an array's shown elements, in order, in numpy's nested brackets. Precondition: rank 1 or more, no zero
// dim.
std::string bracket_text(const Shape& shape, const BracketLayout& layout, std::vector<std::string> words);

}  // namespace assay::tensor
