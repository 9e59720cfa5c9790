#pragma once

#include <string>

#include "debug/accuracy/walk.h"

namespace assay::debug {

// Why a layer differs from what it should give, as far as the numbers tell.
struct Cause {
  std::string word;    // `overflow`
  std::string reason;  // one sentence
};

// Looks at the numbers first, then tries what else the layer could be: operands in another order, another attribute,
// and sees which gives what the side gave.
Cause find_cause(const ir::Model& model, const Accused& accused);

}  // namespace assay::debug
