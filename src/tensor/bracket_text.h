#pragma once

#include <string>
#include <vector>

#include "tensor/shape.h"

namespace assay::tensor {

// Cuts of a large array, and the width of lines.
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
