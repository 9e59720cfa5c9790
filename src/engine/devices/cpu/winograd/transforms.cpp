#include "engine/devices/cpu/winograd/transforms.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "base/parallel.h"
#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

constexpr float kPointB = std::numbers::sqrt2_v<float>;
constexpr float kPointA = kPointB / 2;
constexpr float kSquareA = 0.5F;
constexpr float kSquareB = 2;
constexpr float kSquares = kSquareA + kSquareB;

namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/winograd/transforms_body.h"
#undef ASSAY_KERNEL
constexpr WinogradTransforms kTransforms = {"base", in, out};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/winograd/transforms_body.h"
#undef ASSAY_KERNEL
constexpr WinogradTransforms kTransforms = {"avx2", in, out};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/winograd/transforms_body.h"
#undef ASSAY_KERNEL
constexpr WinogradTransforms kTransforms = {"avx512", in, out};
}  // namespace avx512
#endif

const WinogradTransforms& find_transforms() {
#if defined(__x86_64__)
  if (has_avx512()) return avx512::kTransforms;
  if (has_avx2()) return avx2::kTransforms;
#endif
  return base::kTransforms;
}

// Three weights of a line into six terms, at every `step`.
void line_of_weights(const double* w, size_t step, double* terms, size_t out_step) {
  constexpr double kA = std::numbers::sqrt2 / 2;
  constexpr double kB = std::numbers::sqrt2;
  const auto at = [&](double point, double divisor) {
    return (w[0] + point * w[step] + point * point * w[2 * step]) / divisor;
  };
  terms[0] = w[0];
  terms[out_step] = at(kA, -1.5);
  terms[2 * out_step] = at(-kA, -1.5);
  terms[3 * out_step] = at(kB, 6);
  terms[4 * out_step] = at(-kB, 6);
  terms[5 * out_step] = w[2 * step];
}

constexpr size_t kSide = 3;  // of the weights

std::array<double, kWinogradTerms> terms_of_weights(const float* weights) {
  std::array<double, kSide * kSide> w{};
  std::copy_n(weights, w.size(), w.begin());
  std::array<double, kWinogradIn * kSide> columns{};
  std::array<double, kWinogradTerms> terms{};
  for (size_t x = 0; x < kSide; ++x) line_of_weights(w.data() + x, kSide, columns.data() + x, kSide);
  for (size_t y = 0; y < kWinogradIn; ++y) {
    line_of_weights(columns.data() + y * kSide, 1, terms.data() + y * kWinogradIn, 1);
  }
  return terms;
}

}  // namespace

const WinogradTransforms& winograd_transforms() {
  static const WinogradTransforms& found = find_transforms();
  return found;
}

std::vector<float> winograd_weights(const float* weights, size_t out_channels, size_t channels) {
  std::vector<float> made(kWinogradTerms * channels * out_channels);
  parallel_for(channels, 4, [&](uint64_t begin, uint64_t end) {
    for (size_t c = begin; c < end; ++c) {
      for (size_t k = 0; k < out_channels; ++k) {
        const std::array<double, kWinogradTerms> terms = terms_of_weights(weights + (k * channels + c) * kSide * kSide);
        for (size_t i = 0; i < kWinogradTerms; ++i) {
          made[(i * channels + c) * out_channels + k] = static_cast<float>(terms[i]);
        }
      }
    }
  });
  return made;
}

namespace {

// A tile as ReLU leaves it.
std::vector<float> drawn_tile(size_t channels) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): plans must not depend on chance
  std::vector<float> tile(kWinogradTerms * channels);
  for (float& number : tile) number = std::max(0.0F, static_cast<float>(random()) / 2147483648.0F - 1.0F);
  return tile;
}

// One output channel of the tile, summed in double.
std::array<double, kWinogradOut * kWinogradOut> direct(const float* weights, const std::vector<float>& tile,
                                                       size_t channels) {
  std::array<double, kWinogradOut * kWinogradOut> sums{};
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t w = 0; w < kSide * kSide; ++w) {
      const size_t y = i / kWinogradOut + w / kSide;
      const size_t x = i % kWinogradOut + w % kSide;
      const float* const pixel = tile.data() + (y * kWinogradIn + x) * channels;
      for (size_t c = 0; c < channels; ++c) sums[i] += double{pixel[c]} * double{weights[c * kSide * kSide + w]};
    }
  }
  return sums;
}

}  // namespace

double winograd_error(const float* weights, size_t out_channels, size_t channels) {
  const size_t count = std::min(out_channels, kWinogradChannels);  // of output channels that are looked at
  const std::vector<float> tile = drawn_tile(channels);
  WinogradInPixels in{};
  for (size_t i = 0; i < in.size(); ++i) in[i] = tile.data() + i * channels;
  std::vector<float> terms(tile.size());
  winograd_transforms().in(in, terms.data(), channels, channels);
  std::vector<const float*> looked_at;
  std::vector<float> products(kWinogradTerms * kWinogradChannels);
  for (size_t n = 0; n < count; ++n) {
    looked_at.push_back(weights + n * out_channels / count * channels * kSide * kSide);
    for (size_t c = 0; c < channels; ++c) {
      const std::array<double, kWinogradTerms> w = terms_of_weights(looked_at[n] + c * kSide * kSide);
      for (size_t i = 0; i < kWinogradTerms; ++i) {
        products[i * kWinogradChannels + n] += terms[i * channels + c] * static_cast<float>(w[i]);
      }
    }
  }
  std::vector<float> results(kWinogradOut * kWinogradOut * kWinogradChannels);
  WinogradOutPixels out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = results.data() + i * kWinogradChannels;
  winograd_transforms().out(products.data(), kWinogradChannels, nullptr, out, kWinogradChannels);
  double worst = 0;
  double squares = 0;
  for (size_t n = 0; n < count; ++n) {
    const auto exact = direct(looked_at[n], tile, channels);
    for (size_t i = 0; i < exact.size(); ++i) {
      worst = std::max(worst, std::abs(exact[i] - double{results[i * kWinogradChannels + n]}));
      squares += exact[i] * exact[i];
    }
  }
  const double mean = std::sqrt(squares / static_cast<double>(count * kWinogradOut * kWinogradOut));
  return worst == 0 ? 0 : worst / mean;
}

}  // namespace assay::engine::cpu
