#pragma once

#include "engine/devices/cpu/winograd/transforms.h"
#include "tensor/tensor.h"

namespace assay::engine::cpu {

// The greatest errors of a form with a layer's weights, on drawn pictures, against sums in double.
struct WinogradErrors {
  double of_allowed = 0;  // in units of what computed tolerances allow a result in float32 (docs/numerics.md)
  double of_rms = 0;      // in units of the root mean square of the results of an output channel
};

// Tries the output channels whose weights are least alike, in the type of the weights, on pictures as ReLU leaves them;
// in half of them, a few channels are much larger than the others.
WinogradErrors winograd_errors(const WinogradForm& form, const tensor::Tensor& weights);

// The degree to which few weights rule all others: 3 for a normal distribution. NaN if a weight is not finite.
double kurtosis(const tensor::Tensor& weights);

}  // namespace assay::engine::cpu
