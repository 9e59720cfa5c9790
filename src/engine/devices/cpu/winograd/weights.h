#pragma once

#include <vector>

#include "engine/devices/cpu/winograd/transforms.h"

namespace assay::engine::cpu {

// The terms of one window, [3][3].
std::vector<double> winograd_weights(const WinogradForm& form, const float* window);

// The largest error of results against sums in double, in units of their root mean square, on a drawn tile, of weights
// [out_channels][channels][3][3].
double winograd_error(const WinogradForm& form, const float* weights, size_t out_channels, size_t channels);

}  // namespace assay::engine::cpu
