#include "engine/devices/cpu/winograd/transforms.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/winograd/weights.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWindow = 9;
constexpr float kUntouched = 77;

// A tile of some channels, each with a window of its own.
struct Drawn {
  Drawn(const WinogradForm& form, size_t channel_count) : channels(channel_count) {
    std::mt19937 random(static_cast<unsigned>(form.index) + 1);
    std::uniform_real_distribution<float> number(-1, 1);
    for (size_t i = 0; i < form.terms() * channels; ++i) tile.push_back(number(random));
    for (size_t i = 0; i < kWindow * channels; ++i) windows.push_back(number(random));
    for (size_t i = 0; i < channels; ++i) bias.push_back(number(random));
  }

  // [out][out][channels], without the pixel `left_out`.
  std::vector<float> transformed(const WinogradForm& form, const WinogradLoops& loops, size_t left_out) const {
    std::vector<const float*> pixels;
    for (size_t i = 0; i < form.terms(); ++i) pixels.push_back(tile.data() + i * channels);
    std::vector<float> terms(tile.size());
    loops.in(pixels.data(), terms.data(), channels, channels);
    for (size_t c = 0; c < channels; ++c) {
      const WinogradTerms weights = winograd_weights(form, windows.data() + c * kWindow);
      for (size_t i = 0; i < form.terms(); ++i) terms[i * channels + c] *= static_cast<float>(weights[i]);
    }
    std::vector<float> results(form.out * form.out * channels, kUntouched);
    std::vector<float*> out;
    for (size_t i = 0; i < form.out * form.out; ++i) out.push_back(results.data() + i * channels);
    out[left_out] = nullptr;
    loops.out(terms.data(), channels, bias.data(), out.data(), channels);
    return results;
  }

  double expected(const WinogradForm& form, size_t y, size_t x, size_t c) const {
    double sum = double{bias[c]};
    for (size_t w = 0; w < kWindow; ++w) {
      const size_t pixel = (y * form.stride + w / 3) * form.side + x * form.stride + w % 3;
      sum += double{tile[pixel * channels + c]} * double{windows[c * kWindow + w]};
    }
    return sum;
  }

  size_t channels;
  std::vector<float> tile, windows, bias;
};

TEST(WinogradTransforms, OfAllFormsAndInstructionsAreConvolutions) {
  const std::span<const WinogradTransforms* const> all = all_winograd_transforms();
  for (size_t set = 0; set < all.size(); ++set) {
    for (const WinogradForm& form : winograd_forms()) {
      const Drawn drawn(form, 48);
      const size_t left_out = form.out + 1;
      const std::vector<float> results = drawn.transformed(form, all[set]->loops[form.index], left_out);
      for (size_t i = 0; i < results.size(); ++i) {
        const size_t pixel = i / drawn.channels;
        const double expected = pixel == left_out
                                    ? double{kUntouched}
                                    : drawn.expected(form, pixel / form.out, pixel % form.out, i % drawn.channels);
        ASSERT_NEAR(results[i], expected, 2e-5) << all[set]->name << ", form " << form.index << ", number " << i;
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
