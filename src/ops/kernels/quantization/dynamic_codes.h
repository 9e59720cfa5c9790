#pragma once

#include <vector>

namespace assay::ops {

struct DynamicCodes {
  double scale = 1;
  double zero = 0;
};

// Makes numbers of 8 bits, 0 to 255, of elements, as DynamicQuantizeLinear does: their range is widened to hold 0, and
// if that is all it holds, the scale is 1. ONNX defines scale and quotients to be rounded to float32 before they are
// used; `is_wide`: they are not. `draw`: see Eval::code_draw.
DynamicCodes to_dynamic_codes(std::vector<double>& elements, bool is_wide, uint64_t draw = 0);

}  // namespace assay::ops
