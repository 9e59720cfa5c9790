#pragma once

#include "runners/case_cursor.h"
#include "runners/case_file.h"

namespace assay::cases {

// A type and its value: `f32[2]{1,2}`, `T[3] = iota(0,1)`, `seq(f32[1]{1}, …)`, `seq(f32)` without items, `opt(…)`,
// `none(f32)`, `map(i64[1]{7}, f32[1]{1})`. The `=` may be left out; so may the value, which is then unset.
Literal parse_literal(CaseCursor& cursor);

// `[2,3]`; nothing for a scalar.
tensor::Shape parse_dims(CaseCursor& cursor);

// Whether the value of a tensor comes next, and the value: `{1,2}`, `fill(1)`, `iota(0,1)`, `rand(7,-1,1)`,
// `bits{0x7c01}`.
bool at_fill(CaseCursor& cursor);
void parse_fill(CaseCursor& cursor, Literal& literal);

// Whether a value that is no tensor comes next.
bool at_container(CaseCursor& cursor);

}  // namespace assay::cases
