#include "engine/devices/cpu/winograd/weights.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/rows/row_kernels.h"

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

// All channels of one output channel.
using Windows = std::vector<std::array<float, kWindow * kWindow>>;

// One output channel of the tile, summed in double.
std::vector<double> direct(const WinogradForm& form, const Windows& windows, const std::vector<float>& tile) {
  std::vector<double> sums(form.out * form.out);
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t w = 0; w < kWindow * kWindow; ++w) {
      const size_t y = i / form.out * form.stride + w / kWindow;
      const size_t x = i % form.out * form.stride + w % kWindow;
      const float* const pixel = tile.data() + (y * form.side + x) * windows.size();
      for (size_t c = 0; c < windows.size(); ++c) sums[i] += double{pixel[c]} * double{windows[c][w]};
    }
  }
  return sums;
}

// Float32, or the bits of bfloat16.
void convert(const std::vector<float>& from, std::vector<float>& to) { to = from; }
void convert(const std::vector<float>& from, std::vector<uint16_t>& to) {
  row_kernels().narrow(from.data(), to.data(), from.size());
}
void convert(const std::vector<uint16_t>& from, std::vector<float>& to) {
  row_kernels().widen(from.data(), to.data(), from.size());
}

// As products have it.
template <typename Number>
std::vector<float> rounded(const std::vector<float>& numbers) {
  std::vector<Number> narrow(numbers.size());
  std::vector<float> made(numbers.size());
  convert(numbers, narrow);
  convert(narrow, made);
  return made;
}

template <typename Number>
void round_to(std::vector<float>& numbers) {
  if constexpr (!std::is_same_v<Number, float>) numbers = rounded<Number>(numbers);
}

// The same of some output channels as the form computes it: [out][out][kWinogradChannels].
template <typename Number>
std::vector<float> transformed(const WinogradForm& form, const WinogradLoopsOf<Number>& loops,
                               const std::vector<Windows>& windows, const std::vector<float>& tile) {
  const size_t channels = windows[0].size();
  std::vector<Number> pixels(tile.size()), narrow_terms(tile.size());
  convert(tile, pixels);
  std::vector<const Number*> in;
  for (size_t i = 0; i < form.terms(); ++i) in.push_back(pixels.data() + i * channels);
  loops.in(in.data(), narrow_terms.data(), channels, channels);
  std::vector<float> terms(tile.size());
  convert(narrow_terms, terms);
  std::vector<float> products(form.terms() * kWinogradChannels);
  std::vector<float> narrow_weights(form.terms());
  for (size_t n = 0; n < windows.size(); ++n) {
    for (size_t c = 0; c < channels; ++c) {
      const WinogradTerms w = winograd_weights(form, windows[n][c].data());
      std::copy_n(w.begin(), form.terms(), narrow_weights.begin());
      round_to<Number>(narrow_weights);
      for (size_t i = 0; i < form.terms(); ++i)
        products[i * kWinogradChannels + n] += terms[i * channels + c] * narrow_weights[i];
    }
  }
  std::vector<Number> results(form.out * form.out * kWinogradChannels);
  std::vector<Number*> out;
  for (size_t i = 0; i < form.out * form.out; ++i) out.push_back(results.data() + i * kWinogradChannels);
  loops.out(products.data(), kWinogradChannels, nullptr, out.data(), kWinogradChannels);
  std::vector<float> made(results.size());
  convert(results, made);
  return made;
}

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

double winograd_error(const WinogradForm& form, const tensor::Tensor& weights) {
  const int64_t channels = weights.shape()[1];
  const int64_t count = std::min(weights.shape()[0], static_cast<int64_t>(kWinogradChannels));
  const std::byte* const from = weights.bytes().data();
  std::vector<Windows> windows;  // of the output channels that are looked at
  for (int64_t n = 0; n < count; ++n) {
    Windows& all = windows.emplace_back();
    const int64_t first = n * (weights.shape()[0] / count) * channels;
    for (int64_t c = 0; c < channels; ++c) all.push_back(window_of(weights.dtype(), from, first + c));
  }
  const bool is_half = weights.dtype() == tensor::DType::bfloat16;
  std::vector<float> tile = drawn_tile(form.terms() * static_cast<size_t>(channels));
  if (is_half) tile = rounded<uint16_t>(tile);
  const std::vector<float> results = is_half
                                         ? transformed(form, (*winograd_half_loops())[form.index], windows, tile)
                                         : transformed(form, winograd_transforms().loops[form.index], windows, tile);
  double worst = 0;
  double squares = 0;
  for (size_t n = 0; n < windows.size(); ++n) {
    const std::vector<double> exact = direct(form, windows[n], tile);
    for (size_t i = 0; i < exact.size(); ++i) {
      worst = std::max(worst, std::abs(exact[i] - double{results[i * kWinogradChannels + n]}));
      squares += exact[i] * exact[i];
    }
  }
  const double mean = std::sqrt(squares / static_cast<double>(windows.size() * form.out * form.out));
  return worst == 0 ? 0 : worst / mean;
}

}  // namespace assay::engine::cpu
