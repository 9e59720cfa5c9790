#pragma once

#include <array>
#include <vector>

#include "engine/devices/cpu/winograd/transforms.h"
#include "tensor/tensor.h"

namespace assay::engine::cpu {

inline constexpr size_t kMostWinogradTerms = 81;
using WinogradTerms = std::array<double, kMostWinogradTerms>;

// The terms of one window, [3][3].
WinogradTerms winograd_weights(const WinogradForm& form, const float* window);
// The window of that number of weights [out_channels][channels][3][3], of float32, bfloat16 or int8.
std::array<float, 9> window_of(tensor::DType dtype, const std::byte* weights, int64_t number);

// The largest error of results in the type of these weights, against sums in double, in units of their root mean
// square, on a drawn tile.
double winograd_error(const WinogradForm& form, const tensor::Tensor& weights);

}  // namespace assay::engine::cpu
