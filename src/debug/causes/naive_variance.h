#pragma once

#include "debug/causes/causes.h"
#include "debug/causes/layer_trial.h"

namespace assay::debug {

// A normalization whose groups are each wrong by one factor, as if the variance were the mean of squares less the
// square of the mean, rounded to float32.
std::optional<Cause> naive_variance(const LayerTrial& trial, const Observation& seen);

}  // namespace assay::debug
