#pragma once

#include "passes/pass.h"

namespace assay::passes {

// Operands of a Loop and inputs of its body before the states: count or number, and condition.
inline constexpr uint32_t kFirstLoopState = 2;

// What a value always is: that which a chain of Identity nodes begins with.
ir::ValueId before_identities(PassRun& run, ir::ValueId value);

}  // namespace assay::passes
