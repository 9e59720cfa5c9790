#pragma once

#include <string>

#include "results/comparison.h"

namespace assay::report {

// `3 string(s) differ`, where strings were compared.
std::string strings_line(const results::Judgement& judgement);
// `simple (elemwise): needs abs=2e-05 or rel=0.1, allowed abs=1e-05, rel=1e-05`; `l2: 0.2, allowed at most 1e-05`.
std::string judgement_line(const results::Judgement& judgement);

}  // namespace assay::report
