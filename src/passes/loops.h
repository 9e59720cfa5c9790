#pragma once

#include "passes/pass.h"

namespace assay::passes {

// Operands of a Loop and inputs of its body before the states: count or number, and condition.
inline constexpr uint32_t kFirstLoopState = 2;

// The value with which a chain of Identity nodes begins, and which this one always is.
ir::ValueId before_identities(PassRun& run, ir::ValueId value);

}  // namespace assay::passes
