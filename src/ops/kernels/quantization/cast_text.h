#pragma once

#include <string>
#include <string_view>

#include "ops/eval.h"

namespace assay::ops {

// A number as NumPy prints a scalar of the type: the fewest digits that tell it apart, `nan`, `-inf`, `True`.
std::string number_text(DType dtype, double value);

// The number that a text stands for: a decimal number, `inf`, `nan`, `true` or `false` in any case, with blanks around.
// Error for anything else.
double number_of_text(std::string_view text, bool is_float32);
// The integer that a text stands for, exact if it is one of at most 64 bits; a fraction is cut off.
uint64_t integer_of_text(DType to, std::string_view text);

}  // namespace assay::ops
