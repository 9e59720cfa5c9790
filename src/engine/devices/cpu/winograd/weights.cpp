#include "engine/devices/cpu/winograd/weights.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::engine::cpu {
namespace {

constexpr size_t kWindow = 3;

// A tile as ReLU leaves it.
std::vector<float> drawn_tile(size_t numbers) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): plans must not depend on chance
  std::vector<float> tile(numbers);
  for (float& number : tile) number = std::max(0.0F, static_cast<float>(random()) / 2147483648.0F - 1.0F);
  return tile;
}

// One output channel of the tile, summed in double.
std::vector<double> direct(const WinogradForm& form, const float* weights, const std::vector<float>& tile,
                           size_t channels) {
  std::vector<double> sums(form.out * form.out);
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t w = 0; w < kWindow * kWindow; ++w) {
      const size_t y = i / form.out * form.stride + w / kWindow;
      const size_t x = i % form.out * form.stride + w % kWindow;
      const float* const pixel = tile.data() + (y * form.side + x) * channels;
      for (size_t c = 0; c < channels; ++c) sums[i] += double{pixel[c]} * double{weights[c * kWindow * kWindow + w]};
    }
  }
  return sums;
}

// The same of some output channels as the form computes it: [out][out][kWinogradChannels].
std::vector<float> transformed(const WinogradForm& form, const std::vector<const float*>& weights,
                               const std::vector<float>& tile, size_t channels) {
  const WinogradLoops& loops = winograd_transforms().loops[form.index];
  std::vector<const float*> in;
  for (size_t i = 0; i < form.terms(); ++i) in.push_back(tile.data() + i * channels);
  std::vector<float> terms(tile.size());
  loops.in(in.data(), terms.data(), channels, channels);
  std::vector<float> products(form.terms() * kWinogradChannels);
  for (size_t n = 0; n < weights.size(); ++n) {
    for (size_t c = 0; c < channels; ++c) {
      const std::vector<double> w = winograd_weights(form, weights[n] + c * kWindow * kWindow);
      for (size_t i = 0; i < w.size(); ++i) {
        products[i * kWinogradChannels + n] += terms[i * channels + c] * static_cast<float>(w[i]);
      }
    }
  }
  std::vector<float> results(form.out * form.out * kWinogradChannels);
  std::vector<float*> out;
  for (size_t i = 0; i < form.out * form.out; ++i) out.push_back(results.data() + i * kWinogradChannels);
  loops.out(products.data(), kWinogradChannels, nullptr, out.data(), kWinogradChannels);
  return results;
}

}  // namespace

std::vector<double> winograd_weights(const WinogradForm& form, const float* window) {
  const std::vector<double> weights(window, window + kWindow * kWindow);
  std::vector<double> columns(form.side * kWindow);
  std::vector<double> terms(form.terms());
  for (size_t x = 0; x < kWindow; ++x) form.line_of_weights(weights.data() + x, kWindow, columns.data() + x, kWindow);
  for (size_t y = 0; y < form.side; ++y) {
    form.line_of_weights(columns.data() + y * kWindow, 1, terms.data() + y * form.side, 1);
  }
  return terms;
}

double winograd_error(const WinogradForm& form, const float* weights, size_t out_channels, size_t channels) {
  const size_t count = std::min(out_channels, kWinogradChannels);  // of output channels that are looked at
  const std::vector<float> tile = drawn_tile(form.terms() * channels);
  std::vector<const float*> looked_at;
  for (size_t n = 0; n < count; ++n) {
    looked_at.push_back(weights + n * out_channels / count * channels * kWindow * kWindow);
  }
  const std::vector<float> results = transformed(form, looked_at, tile, channels);
  double worst = 0;
  double squares = 0;
  for (size_t n = 0; n < count; ++n) {
    const std::vector<double> exact = direct(form, looked_at[n], tile, channels);
    for (size_t i = 0; i < exact.size(); ++i) {
      worst = std::max(worst, std::abs(exact[i] - double{results[i * kWinogradChannels + n]}));
      squares += exact[i] * exact[i];
    }
  }
  const double mean = std::sqrt(squares / static_cast<double>(count * form.out * form.out));
  return worst == 0 ? 0 : worst / mean;
}

}  // namespace assay::engine::cpu
