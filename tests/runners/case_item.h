#pragma once

#include "runners/case_cursor.h"
#include "runners/case_file.h"

namespace assay::cases {

// Parses one item of a case and puts it there: an input `X: T[2] = {1,2}`, `const W: …`, one that is left out `?`, an
// output `Y: T[2] == {1,2} from ort-1.31` or `Y == ?`, an attribute `axis=1`, or `error "…"`.
void parse_item(CaseCursor& cursor, Case& item);

}  // namespace assay::cases
