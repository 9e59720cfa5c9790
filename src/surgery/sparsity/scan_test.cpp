#include "surgery/sparsity/scan.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace assay::surgery {
namespace {

// The definition, element by element.
template <typename T>
SparsityCounts by_definition(const std::vector<T>& items, const AxisView& view, const ZeroPattern& pattern) {
  SparsityCounts counts;
  const auto is_zero = [&](uint64_t place) {
    return static_cast<T>(items[place] & static_cast<T>(pattern.mask)) == static_cast<T>(pattern.zero);
  };
  for (uint64_t o = 0; o < view.outer; ++o) {
    for (uint64_t g = 0; g < view.length; g += 4) {
      for (uint64_t i = 0; i < view.inner; ++i) {
        const uint64_t first = (o * view.length + g) * view.inner + i;
        uint64_t zeros = 0;
        for (uint64_t k = 0; k < 4; ++k) zeros += is_zero(first + k * view.inner);
        counts.zeros += zeros;
        counts.bad_groups += zeros < 2;
        if (zeros < 2 && !counts.first_bad) counts.first_bad = first;
      }
    }
  }
  return counts;
}

template <typename T>
void compare_random(uint32_t seed, const ZeroPattern& pattern) {
  std::mt19937 random(seed);
  const AxisView view = {random() % 4 + 1, 4 * (random() % 40 + 1), random() % 3 == 0 ? 1 : random() % 150 + 1};
  std::vector<T> items(view.outer * view.length * view.inner);
  const uint32_t odds = random() % 8 + 1;
  for (T& item : items) item = random() % 10 < odds ? static_cast<T>(pattern.zero) : static_cast<T>(random());
  // One byte further, so that elements are not aligned.
  std::vector<std::byte> bytes(items.size() * sizeof(T) + 1);
  std::memcpy(bytes.data() + 1, items.data(), items.size() * sizeof(T));
  const SparsityCounts found = scan_groups(tensor::Bytes(bytes).subspan(1), view, pattern);
  const SparsityCounts expected = by_definition(items, view, pattern);
  ASSERT_EQ(found.zeros, expected.zeros) << "seed " << seed;
  ASSERT_EQ(found.bad_groups, expected.bad_groups) << "seed " << seed;
  ASSERT_EQ(found.first_bad, expected.first_bad) << "seed " << seed;
}

TEST(SparsityScan, agrees_with_the_definition) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    compare_random<uint32_t>(seed, {4, 0x7FFFFFFF, 0});
    compare_random<uint16_t>(seed, {2, 0x7FFF, 0});
    compare_random<uint8_t>(seed, {1, 0xFF, 0});
    compare_random<uint8_t>(seed, {1, ~uint64_t{0}, static_cast<uint64_t>(int64_t{-3})});
  }
}

TEST(SparsityScan, zeros_of_both_signs_count) {
  const std::vector<float> items = {1, -0.0F, 2, 0};
  const tensor::Bytes bytes = std::as_bytes(std::span(items));
  EXPECT_EQ(scan_groups(bytes, {1, 4, 1}, {4, 0x7FFFFFFF, 0}).bad_groups, 0u);
  EXPECT_EQ(scan_groups(bytes, {1, 4, 1}, {4, 0xFFFFFFFF, 0}).bad_groups, 1u);
}

}  // namespace
}  // namespace assay::surgery
