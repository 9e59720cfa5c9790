#include "compare/top_k.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tensor/elements.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Tensor;
using Indices = std::vector<int64_t>;

template <typename T>
Tensor shaped(DType dtype, tensor::Shape shape, std::vector<T> elements) {
  return tensor::make_tensor<T>(dtype, std::move(shape), elements);
}

Indices indices(const Tensor& tensor) { return tensor::load_elements<int64_t>(tensor); }

TEST(TopK, GreatestFirstTiesInOrder) {
  const Tensor found = top_k(shaped<float>(DType::float32, {5}, {1, 3, 2, 3, 0}), 3);
  EXPECT_EQ(found.dtype(), DType::int64);
  EXPECT_EQ(found.shape(), tensor::Shape{3});
  EXPECT_EQ(indices(found), (Indices{1, 3, 2}));
}

TEST(TopK, NanLast) {
  const float inf = INFINITY;
  EXPECT_EQ(indices(top_k(shaped<float>(DType::float32, {4}, {NAN, -inf, inf, NAN}), 4)), (Indices{2, 1, 0, 3}));
}

TEST(TopK, UnsignedAndBooleanOrder) {
  EXPECT_EQ(indices(top_k(shaped<uint8_t>(DType::uint8, {3}, {0, 255, 1}), 3)), (Indices{1, 2, 0}));
  EXPECT_EQ(indices(top_k(shaped<uint64_t>(DType::uint64, {2}, {uint64_t{1} << 63, ~uint64_t{0}}), 1)), Indices{1});
  EXPECT_EQ(indices(top_k(shaped<uint8_t>(DType::boolean, {3}, {0, 1, 1}), 2)), (Indices{1, 2}));
  const int64_t low = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(indices(top_k(shaped<int64_t>(DType::int64, {3}, {low, 0, low + 1}), 3)), (Indices{1, 2, 0}));
}

TEST(TopK, AnyAxis) {
  const Tensor tensor = shaped<float>(DType::float32, {2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_EQ(indices(top_k(tensor, 1, 0)), (Indices{1, 0, 1}));
  EXPECT_EQ(top_k(tensor, 1, 0).shape(), (tensor::Shape{1, 3}));
  EXPECT_EQ(indices(top_k(tensor, 2, 1)), (Indices{1, 2, 2, 0}));
  EXPECT_THROW(top_k(tensor, 1, 2), Error);
  EXPECT_THROW(top_k(tensor, 1, -3), Error);
  EXPECT_THROW(top_k(tensor, -1), Error);
}

TEST(TopK, LimitsOfKAndShape) {
  EXPECT_EQ(indices(top_k(shaped<float>(DType::float32, {2}, {1, 2}), 9)), (Indices{1, 0}));
  EXPECT_EQ(top_k(shaped<float>(DType::float32, {2}, {1, 2}), 0).shape(), tensor::Shape{0});
  EXPECT_EQ(top_k(shaped<float>(DType::float32, {2, 0}, {}), 3).shape(), (tensor::Shape{2, 0}));
  EXPECT_EQ(top_k(shaped<float>(DType::float32, {0, 2}, {}), 1).shape(), (tensor::Shape{0, 1}));
  EXPECT_EQ(indices(top_k(shaped<float>(DType::float32, {}, {7}), 3)), Indices{0});
  EXPECT_THROW(top_k(Tensor(DType::string, {1}, tensor::make_strings({"x"})), 1), Error);
}

}  // namespace
}  // namespace assay::compare
