#include "engine/devices/cpu/winograd/transforms.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/winograd/weights.h"
#include "ops/eval.h"

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

TEST(WinogradWeights, ErrorsAreThoseOfTheType) {
  constexpr int64_t kChannels = 64;
  const auto error = [](const WinogradForm& form, tensor::DType dtype, double special) {
    std::mt19937 random(1);
    std::normal_distribution<double> number;
    std::vector<double> weights(kWindow * kChannels * 16);
    for (double& weight : weights) weight = number(random);
    if (special != 0) weights[100] = special;
    return winograd_error(form, ops::make_rounded(dtype, {16, kChannels, 3, 3}, weights));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const WinogradForm& form : winograd_forms()) {
    EXPECT_GT(error(form, tensor::DType::float32, 0), 1e-7) << form.index;
    EXPECT_LT(error(form, tensor::DType::float32, 0), 5e-6) << form.index;
    EXPECT_FALSE(error(form, tensor::DType::float32, kInfinity) <= 1e-5) << form.index;
    if (winograd_half_loops() == nullptr) continue;
    EXPECT_GT(error(form, tensor::DType::bfloat16, 0), 0x1p-8) << form.index;
    EXPECT_EQ(error(form, tensor::DType::bfloat16, 0) < 0x1p-6, form.out == 2) << form.index;
    EXPECT_FALSE(error(form, tensor::DType::bfloat16, kInfinity) <= 1) << form.index;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
