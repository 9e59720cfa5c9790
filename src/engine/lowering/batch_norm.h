#pragma once

#include "passes/pass.h"

namespace assay::engine {

// A BatchNormalization that is left, with constant numbers, becomes a Mul and an Add, which join what is beside them.
passes::Pass spell_batch_normalization();

// A BatchNormalization of a Concat of channels, with constant numbers, becomes one of each part, where nothing else
// reads what lies between and all parts are results of convolutions, with which they are merged.
passes::Pass divide_batch_normalization();

}  // namespace assay::engine
