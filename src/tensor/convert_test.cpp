#include "tensor/convert.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tensor/elements.h"

namespace assay::tensor {
namespace {

template <typename C>
std::vector<C> as(const Tensor& tensor, DType dtype) {
  return load_elements<C>(converted(tensor, dtype));
}

Tensor doubles(std::vector<double> elements) {
  return make_tensor<double>(DType::float64, {static_cast<int64_t>(elements.size())}, elements);
}
Tensor integers(std::vector<int64_t> elements) {
  return make_tensor<int64_t>(DType::int64, {static_cast<int64_t>(elements.size())}, elements);
}

TEST(Converted, AsNumPyDoes) {
  EXPECT_EQ(as<double>(doubles({0.1, -2}), DType::float32), (std::vector<double>{0.1F, -2}));
  EXPECT_EQ(as<int64_t>(doubles({1.9, -1.9}), DType::int32), (std::vector<int64_t>{1, -1}));
  EXPECT_EQ(as<int64_t>(integers({300, -1}), DType::int8), (std::vector<int64_t>{44, -1}));
  EXPECT_EQ(as<uint64_t>(integers({-1}), DType::uint8), (std::vector<uint64_t>{255}));
  EXPECT_EQ(as<uint64_t>(doubles({0.5, 0, -3}), DType::boolean), (std::vector<uint64_t>{1, 0, 1}));
  EXPECT_EQ(as<double>(integers({5, -5}), DType::float16), (std::vector<double>{5, -5}));
  EXPECT_EQ(as<int64_t>(integers({INT64_MAX, INT64_MIN}), DType::int64), (std::vector<int64_t>{INT64_MAX, INT64_MIN}));
  const Tensor text(DType::string, {1}, make_strings({"x"}));
  EXPECT_THROW(converted(text, DType::float32), Error);
}

TEST(Converted, LargeTensorsInPieces) {
  std::vector<int64_t> elements(40'001);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(i % 8);
  EXPECT_EQ(as<int64_t>(converted(integers(elements), DType::int4), DType::int64), elements);
}

TEST(ConvertsSafely, WhereValuesCanComeBack) {
  EXPECT_TRUE(converts_safely(doubles({0.1}), DType::float16));
  EXPECT_TRUE(converts_safely(doubles({3, -0.0}), DType::int32));
  EXPECT_FALSE(converts_safely(doubles({0.5}), DType::int32));
  EXPECT_FALSE(converts_safely(doubles({NAN}), DType::int64));
  EXPECT_FALSE(converts_safely(doubles({1e10}), DType::int32));
  EXPECT_TRUE(converts_safely(integers({1, 0}), DType::boolean));
  EXPECT_FALSE(converts_safely(integers({2}), DType::boolean));
  EXPECT_FALSE(converts_safely(integers({-1}), DType::uint8));
}

}  // namespace
}  // namespace assay::tensor
