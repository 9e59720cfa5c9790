#include "engine/devices/cpu/winograd/exact_forms.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/winograd/weights.h"
#include "tensor/tensor.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kChannels = 32;
constexpr size_t kWindow = 9;

// A tile of codes, and a window of weights for each channel; `draw` gives a code of 0 to 255.
struct Drawn {
  template <typename Draw>
  Drawn(const WinogradForm& form, bool are_signed, Draw&& draw) : is_signed(are_signed) {
    for (size_t i = 0; i < form.terms() * kChannels; ++i) tile.push_back(static_cast<std::byte>(draw()));
    for (size_t i = 0; i < kWindow * kChannels; ++i) windows.push_back(static_cast<float>(draw() - 128));
    for (size_t i = 0; i < kChannels; ++i) starts.push_back(draw() * 1000);
  }

  int64_t code(size_t i) const {
    const auto byte = static_cast<uint8_t>(tile[i]);
    return is_signed ? static_cast<int8_t>(byte) : byte;
  }

  // [out][out][channel], each channel by itself: as a product of one row has it.
  std::vector<int32_t> transformed(const WinogradForm& form, const ExactLoops& loops) const {
    std::vector<const std::byte*> pixels;
    for (size_t i = 0; i < form.terms(); ++i) pixels.push_back(tile.data() + i * kChannels);
    std::vector<int16_t> terms(tile.size());
    loops.in(pixels.data(), is_signed, terms.data(), kChannels, kChannels);
    std::vector<int32_t> products(terms.size());
    for (size_t c = 0; c < kChannels; ++c) {
      const WinogradTerms weights = winograd_weights(form, windows.data() + c * kWindow);
      for (size_t i = 0; i < form.terms(); ++i) {
        EXPECT_LE(std::fabs(weights[i]), INT16_MAX);
        products[i * kChannels + c] = terms[i * kChannels + c] * static_cast<int32_t>(weights[i]);
      }
    }
    std::vector<int32_t> sums(form.out * form.out * kChannels);
    loops.out({products.data(), kChannels, starts.data(), sums.data(), kChannels, form.out * kChannels, kChannels});
    return sums;
  }

  int64_t expected(const WinogradForm& form, size_t y, size_t x, size_t c) const {
    int64_t sum = starts[c];
    for (size_t w = 0; w < kWindow; ++w)
      sum +=
          code(((y + w / 3) * form.side + x + w % 3) * kChannels + c) * static_cast<int64_t>(windows[c * kWindow + w]);
    return sum;
  }

  bool is_signed;
  std::vector<std::byte> tile;
  std::vector<float> windows;
  std::vector<int32_t> starts;
};

void expect_exact(const WinogradForm& form, const Drawn& drawn) {
  const std::vector<int32_t> sums = drawn.transformed(form, (*exact_loops())[form.index]);
  for (size_t y = 0; y < form.out; ++y) {
    for (size_t x = 0; x < form.out; ++x) {
      for (size_t c = 0; c < kChannels; ++c)
        ASSERT_EQ(sums[(y * form.out + x) * kChannels + c], drawn.expected(form, y, x, c)) << form.out;
    }
  }
}

// Of all codes, and of the least and greatest in all places.
TEST(ExactForms, AreConvolutions) {
  if (exact_loops() == nullptr) GTEST_SKIP() << "no instructions for them on this processor";
  std::mt19937 random(5);
  for (const WinogradForm& form : exact_forms()) {
    for (int i = 0; i < 300; ++i) {
      const bool are_signed = i % 2 == 0;
      if (i % 3 == 0)
        expect_exact(form, Drawn(form, are_signed, [&] { return static_cast<int>(random() % 2 * 255); }));
      else
        expect_exact(form, Drawn(form, are_signed, [&] { return static_cast<int>(random() % 256); }));
    }
  }
}

bool fits(const ExactLoops& loops, int64_t channels, int8_t weight, bool are_signed) {
  const std::vector<int8_t> weights(static_cast<size_t>(channels) * kWindow, weight);
  return fits_exactly(loops, tensor::make_tensor<int8_t>(tensor::DType::int8, {1, channels, 3, 3}, weights),
                      are_signed);
}

// 115 channels of 255 * 127 * 9 are below 2^25.
TEST(ExactForms, SumsThatMayBeTooLargeAreFound) {
  if (exact_loops() == nullptr) GTEST_SKIP() << "no instructions for them on this processor";
  const auto& [four, two] = *exact_loops();
  EXPECT_TRUE(fits(four, 115, 127, false));
  EXPECT_FALSE(fits(four, 116, 127, false));
  EXPECT_TRUE(fits(four, 114, -128, false));
  EXPECT_FALSE(fits(four, 115, -128, false));
  EXPECT_TRUE(fits(four, 229, 127, true));
  EXPECT_FALSE(fits(four, 230, 127, true));
  EXPECT_TRUE(fits(two, 1841, 127, false));
  EXPECT_FALSE(fits(two, 1842, 127, false));
}

}  // namespace
}  // namespace assay::engine::cpu
