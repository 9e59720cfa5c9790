#include "compare/validate.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using tensor::DType;
using Place = std::vector<int64_t>;

tensor::Tensor checked_floats(const std::vector<float>& elements) {
  return tensor::make_tensor<float>(DType::float32, {static_cast<int64_t>(elements.size() / 2), 2}, elements);
}

TEST(Validate, CountsAndFirstPlaces) {
  std::vector<float> elements(300000, -3.4e38F);
  EXPECT_TRUE(validate(checked_floats(elements)).is_valid());
  elements[777] = NAN;
  elements[200001] = -NAN;
  elements[200002] = INFINITY;
  elements[299999] = -INFINITY;
  const Validity validity = validate(checked_floats(elements));
  EXPECT_FALSE(validity.is_valid());
  EXPECT_EQ(validity.nan_count, 2U);
  EXPECT_EQ(validity.inf_count, 2U);
  EXPECT_EQ(validity.first_nan_at, (Place{388, 1}));
  EXPECT_EQ(validity.first_inf_at, (Place{100001, 0}));
}

TEST(Validate, OtherTypes) {
  EXPECT_EQ(
      validate(tensor::make_tensor<uint16_t>(DType::float16, {2}, std::vector<uint16_t>{0x7C00, 0x7E00})).nan_count,
      1U);
  EXPECT_TRUE(validate(tensor::make_tensor<int32_t>(DType::int32, {1}, std::vector<int32_t>{-1})).is_valid());
  EXPECT_TRUE(validate(tensor::Tensor(DType::string, {1}, tensor::make_strings({"nan"}))).is_valid());
  EXPECT_TRUE(validate(tensor::Tensor(DType::float32, {0}, tensor::make_owned({}))).is_valid());
  const std::vector<float> complex = {1, NAN, INFINITY, 0, INFINITY, NAN};
  const Validity validity = validate(tensor::make_tensor<float>(DType::complex64, {3}, complex));
  EXPECT_EQ(validity.nan_count, 2U);
  EXPECT_EQ(validity.first_inf_at, Place{1});
}

}  // namespace
}  // namespace assay::compare
