#include "compare/shape_match.h"

#include <gtest/gtest.h>

#include "tensor/elements.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

Tensor counting(Shape shape) {
  std::vector<int32_t> elements(tensor::element_count(shape).value_or(0));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int32_t>(i);
  return tensor::make_tensor<int32_t>(DType::int32, std::move(shape), elements);
}

using Elements = std::vector<int64_t>;

TEST(ShapeMatch, SameShapeIsLeftAlone) {
  const std::optional<MatchedTensor> found = match_shape(counting({2, 3}), Shape{2, -1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "");
}

TEST(ShapeMatch, OtherRankIsReshaped) {
  const std::optional<MatchedTensor> found = match_shape(counting({2, 3}), Shape{1, -1, 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tensor.shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(found->what, "reshaped from [2, 3] to [1, 3, 2]");
  EXPECT_EQ(tensor::load_elements<int64_t>(found->tensor), (Elements{0, 1, 2, 3, 4, 5}));
}

TEST(ShapeMatch, SameDimsArePermuted) {
  const std::optional<MatchedTensor> found = match_shape(counting({1, 2, 3}), Shape{3, 1, 2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "permuted from [1, 2, 3] to [3, 1, 2] by the permutation [2, 0, 1]");
  EXPECT_EQ(tensor::load_elements<int64_t>(found->tensor), (Elements{0, 3, 1, 4, 2, 5}));
}

TEST(ShapeMatch, SameRankOtherDimsIsReshaped) {
  EXPECT_EQ(match_shape(counting({2, 6}), Shape{3, 4})->what, "reshaped from [2, 6] to [3, 4]");
}

TEST(ShapeMatch, SeveralOpenDimsComeFromTheTensor) {
  EXPECT_EQ(match_shape(counting({2, 6}), Shape{-1, -1})->what, "");
  EXPECT_FALSE(match_shape(counting({2, 6}), Shape{-1, -1, 1}));
}

TEST(ShapeMatch, Impossible) {
  EXPECT_FALSE(match_shape(counting({2, 3}), Shape{7}));
  EXPECT_FALSE(match_shape(counting({2, 3}), Shape{-1, 4}));
  EXPECT_FALSE(match_shape(counting({2, 3}), Shape{-1, 0}));
  EXPECT_FALSE(match_shape(counting({2, 3}), Shape{INT64_MAX, INT64_MAX, -1}));
}

TEST(ShapeMatch, ScalarsEmptyAndStrings) {
  EXPECT_EQ(match_shape(counting({}), Shape{1, 1})->tensor.shape(), (Shape{1, 1}));
  EXPECT_EQ(match_shape(counting({1}), Shape{})->tensor.shape(), Shape{});
  EXPECT_EQ(match_shape(counting({0, 2}), Shape{2, 0})->tensor.shape(), (Shape{2, 0}));
  const Tensor strings(DType::string, {1, 2}, tensor::make_strings({"a", "b"}));
  EXPECT_EQ(match_shape(strings, Shape{2, 1})->tensor.strings()[1], "b");
}

}  // namespace
}  // namespace assay::compare
