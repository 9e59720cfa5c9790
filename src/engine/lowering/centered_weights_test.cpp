#include "engine/lowering/centered_weights.h"

#include <random>

#include <gtest/gtest.h>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

using tensor::DType;

template <typename Code>
tensor::Tensor codes_of(DType dtype, const tensor::Shape& dims, int least, int greatest, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Code> codes(static_cast<size_t>(*tensor::element_count(dims)));
  for (Code& code : codes)
    code = static_cast<Code>(least + static_cast<int>(random() % static_cast<unsigned>(greatest - least + 1)));
  return tensor::make_tensor<Code>(dtype, dims, codes);
}

// The codes less their zero points, of which there may be one.
std::vector<double> differences(const tensor::Tensor& codes, const std::vector<double>& zeros, size_t axis) {
  size_t inner = 1;
  for (size_t i = axis + 1; i < codes.shape().size(); ++i) inner *= static_cast<size_t>(codes.shape()[i]);
  std::vector<double> numbers = tensor::load_elements<double>(codes);
  for (size_t i = 0; i < numbers.size() && !zeros.empty(); ++i)
    numbers[i] -= zeros[zeros.size() == 1 ? 0 : i / inner % zeros.size()];
  return numbers;
}

void expect_same(const tensor::Tensor& codes, const std::vector<double>& zeros, size_t axis, bool by_axis) {
  const std::optional<CenteredWeights> made = center(codes, zeros, axis, by_axis);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->weights.dtype(), DType::int8);
  EXPECT_EQ(made->weights.shape(), codes.shape());
  for (const int zero : made->zeros) EXPECT_TRUE(zero >= -128 && zero <= 127) << zero;
  EXPECT_EQ(differences(made->weights, {made->zeros.begin(), made->zeros.end()}, axis),
            differences(codes, zeros, axis));
  const std::vector<double> left(made->zeros.begin(), made->zeros.end());
  const std::optional<CenteredWeights> again =
      center(made->weights, left.empty() ? std::vector<double>{0} : left, axis, by_axis);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_changed);
  EXPECT_EQ(again->zeros, made->zeros);
}

TEST(CenteredWeights, AreTheSameDifferences) {
  for (const tensor::Shape& dims : {tensor::Shape{3, 2, 3, 3}, {5, 1}, {300, 7}, {1, 300, 300}}) {
    for (const size_t axis : {0U, 1U}) {
      const auto channels = static_cast<size_t>(dims[axis]);
      for (const double first : {0, 1, 127, 128, 200, 255}) {
        std::vector<double> many(channels);
        for (size_t i = 0; i < channels; ++i) many[i] = std::fmod(first + static_cast<double>(i * 97), 256);
        for (const bool by_axis : {false, true}) {
          for (const auto& [least, greatest] : {std::pair(0, 255), {100, 150}, {255, 255}, {0, 0}}) {
            const tensor::Tensor plain = codes_of<uint8_t>(DType::uint8, dims, least, greatest, 1);
            expect_same(plain, {first}, axis, by_axis);
            expect_same(plain, many, axis, by_axis);
            const tensor::Tensor sign = codes_of<int8_t>(DType::int8, dims, least - 128, greatest - 128, 2);
            expect_same(sign, {first - 128}, axis, by_axis);
          }
        }
      }
    }
  }
}

TEST(CenteredWeights, HaveNoZeroPointsWhereTheyFit) {
  const tensor::Tensor all = codes_of<uint8_t>(DType::uint8, {4, 90}, 0, 255, 3);
  EXPECT_TRUE(center(all, {128}, 0, true)->zeros.empty());
  EXPECT_TRUE(center(codes_of<uint8_t>(DType::uint8, {4, 90}, 30, 140, 3), {13}, 0, true)->zeros.empty());
  // Of one row only, or of all where one zero point stays one.
  const std::vector<uint8_t> codes = {0, 100, 0, 255};
  const tensor::Tensor rows = tensor::make_tensor<uint8_t>(DType::uint8, {2, 2}, codes);
  EXPECT_EQ(center(rows, {100}, 0, true)->zeros, (std::vector<int>{0, -28}));
  EXPECT_EQ(center(rows, {100}, 0, false)->zeros, std::vector<int>{-28});
  EXPECT_FALSE(center(codes_of<int8_t>(DType::int8, {2, 9}, -128, 127, 3), {0, 0}, 0, true)->is_changed);
}

TEST(CenteredWeights, OfOtherTensorsThereAreNone) {
  EXPECT_FALSE(center(tensor::make_tensor<int32_t>(DType::int32, {1}, std::vector<int32_t>{1}), {0}, 0, true));
  const tensor::Tensor codes = codes_of<uint8_t>(DType::uint8, {4, 3}, 0, 255, 3);
  EXPECT_FALSE(center(codes, {1, 2}, 0, true));
  EXPECT_FALSE(center(codes, {1}, 2, true));
}

}  // namespace
}  // namespace assay::engine
