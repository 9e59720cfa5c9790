#include "engine/devices/cpu/winograd/weights.h"

#include <algorithm>

#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWindow = 3;

}  // namespace

WinogradTerms winograd_weights(const WinogradForm& form, const float* window) {
  constexpr size_t kMostSide = 9;
  std::array<double, kWindow * kWindow> weights{};
  std::copy_n(window, weights.size(), weights.begin());
  std::array<double, kMostSide * kWindow> columns{};
  WinogradTerms terms{};
  for (size_t x = 0; x < kWindow; ++x) form.line_of_weights(weights.data() + x, kWindow, columns.data() + x, kWindow);
  for (size_t y = 0; y < form.side; ++y) {
    form.line_of_weights(columns.data() + y * kWindow, 1, terms.data() + y * form.side, 1);
  }
  return terms;
}

std::array<float, 9> window_of(tensor::DType dtype, const std::byte* weights, int64_t number) {
  std::array<float, kWindow * kWindow> window{};
  const int64_t first = number * static_cast<int64_t>(window.size());
  load_floats(dtype, weights + first * float_bytes(dtype), window.data(), window.size());
  return window;
}

}  // namespace assay::engine::cpu
