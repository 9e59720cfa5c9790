#pragma once

#include <array>

#include "engine/devices/cpu/winograd/transforms.h"
#include "tensor/tensor.h"

namespace assay::engine::cpu {

inline constexpr size_t kMostWinogradTerms = 81;
using WinogradTerms = std::array<double, kMostWinogradTerms>;

// The terms of one window, [3][3].
WinogradTerms winograd_weights(const WinogradForm& form, const float* window);
// The window of that number of weights [out_channels][channels][3][3], of float32, bfloat16 or int8.
std::array<float, 9> window_of(tensor::DType dtype, const std::byte* weights, int64_t number);

}  // namespace assay::engine::cpu
