#include "engine/devices/cpu/winograd/term_products.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/winograd/weights.h"
#include "ops/eval.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kChannels = 32;
constexpr int64_t kOutChannels = 80;
constexpr int64_t kTiles = 13;
constexpr int64_t kWindow = 9;

class TermProductsTest : public testing::Test {
 protected:
  TermProductsTest() : windows_(numbers(kOutChannels * kChannels * kWindow)) {}

  std::vector<float> numbers(int64_t count) {
    std::vector<float> drawn;
    for (int64_t i = 0; i < count; ++i) drawn.push_back(std::uniform_real_distribution<float>(-1, 1)(random_));
    return drawn;
  }

  // Of each term, summed in double: [tiles][term][column] of a panel.
  std::vector<double> expected(const WinogradForm& form, const std::vector<float>& terms, int64_t first,
                               int64_t columns) const {
    const auto count = static_cast<int64_t>(form.terms());
    std::vector<double> sums(static_cast<size_t>(kTiles * count * columns));
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t channel = 0; channel < kChannels; ++channel) {
        const WinogradTerms weights =
            winograd_weights(form, windows_.data() + ((first + column) * kChannels + channel) * kWindow);
        for (int64_t i = 0; i < kTiles * count; ++i) {
          const double term = terms[static_cast<size_t>(i * kChannels + channel)];
          sums[static_cast<size_t>(i * columns + column)] += term * weights[static_cast<size_t>(i % count)];
        }
      }
    }
    return sums;
  }

  std::mt19937 random_{1};
  std::vector<float> windows_;
};

TEST_F(TermProductsTest, AreThoseOfDoubleOnAllInstructions) {
  const tensor::Tensor weights = ops::make_rounded(tensor::DType::float32, {kOutChannels, kChannels, 3, 3},
                                                   std::vector<double>(windows_.begin(), windows_.end()));
  const std::span<const TileKernels* const> all = all_tile_kernels();
  for (size_t set = 0; set < all.size(); ++set) {
    for (const WinogradForm& form : winograd_forms()) {
      KeptWeights packed;
      const TermProducts products(packed, weights, form, *all[set]);
      const std::vector<float> terms = numbers(kTiles * static_cast<int64_t>(form.terms()) * kChannels);
      for (int64_t panel = 0; panel < products.panel_count(); ++panel) {
        const int64_t columns = products.columns_of(panel);
        const std::vector<double> sums = expected(form, terms, panel * products.panel_columns(), columns);
        std::vector<float> found(sums.size());
        products.run(panel, terms.data(), kTiles, found.data());
        for (size_t i = 0; i < sums.size(); ++i) {
          ASSERT_NEAR(found[i], sums[i], 2e-5) << all[set]->name << ", form " << form.index << ", panel " << panel;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
