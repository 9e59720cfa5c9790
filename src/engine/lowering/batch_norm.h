#pragma once

#include "passes/pass.h"

namespace assay::engine {

// A BatchNormalization that is left, with constant numbers, becomes a Mul and an Add, which join what is beside them.
passes::Pass spell_batch_normalization();

}  // namespace assay::engine
