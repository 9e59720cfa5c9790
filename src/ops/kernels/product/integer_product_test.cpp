#include "ops/kernels/product/integer_product.h"

#include <random>

#include <gtest/gtest.h>

namespace assay::ops {
namespace {

TEST(IntegerProduct, WrapsAlikeInBothWidths) {
  std::mt19937 random(9);
  for (int round = 0; round < 60; ++round) {
    const ProductSize size{1 + random() % 9, 1 + random() % 70, random() % 40};
    std::vector<uint64_t> wide[2] = {std::vector<uint64_t>(size.rows * size.depth),
                                     std::vector<uint64_t>(size.depth * size.columns)};
    std::vector<uint32_t> narrow[2];
    for (int side = 0; side < 2; ++side) {
      for (uint64_t& number : wide[side]) number = random();
      narrow[side].assign(wide[side].begin(), wide[side].end());
    }
    std::vector<uint64_t> expected(size.rows * size.columns);
    for (uint64_t i = 0; i < expected.size(); ++i) {
      for (uint64_t k = 0; k < size.depth; ++k) {
        expected[i] += wide[0][i / size.columns * size.depth + k] * wide[1][k * size.columns + i % size.columns];
      }
    }
    std::vector<uint64_t> out(expected.size());
    integer_product(size, {wide[0].data(), size.depth}, {wide[1].data(), size.columns}, out.data());
    EXPECT_EQ(out, expected);
    std::vector<uint32_t> small(expected.size());
    integer_product(size, narrow[0].data(), narrow[1].data(), small.data());
    EXPECT_EQ(small, std::vector<uint32_t>(expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace assay::ops
