#include "tensor/dtype.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay::tensor {
namespace {

TEST(DType, names_are_found_again) {
  for (int32_t number = 1; number <= 28; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_TRUE(is_known(dtype));
    EXPECT_EQ(find_dtype(name(dtype)), dtype);
    EXPECT_EQ(find_dtype(onnx_name(dtype)), dtype);
  }
}

TEST(DType, names_follow_numpy_and_onnx) {
  EXPECT_EQ(name(DType::float32), "float32");
  EXPECT_EQ(onnx_name(DType::float32), "float");
  EXPECT_EQ(onnx_name(DType::float64), "double");
  EXPECT_EQ(name(DType::boolean), "bool");
  EXPECT_EQ(name(DType::float6e3m2), "float6e3m2");
  EXPECT_EQ(find_dtype("FLOAT"), DType::float32);
  EXPECT_EQ(find_dtype("BFloat16"), DType::bfloat16);
  EXPECT_EQ(find_dtype("float4"), DType::float4e2m1);
  EXPECT_EQ(find_dtype("floats"), std::nullopt);
  EXPECT_EQ(find_dtype(""), std::nullopt);
  EXPECT_EQ(find_dtype("undefined"), std::nullopt);
}

TEST(DType, numbers_that_are_not_listed_are_carried) {
  const auto strange = static_cast<DType>(77);
  EXPECT_FALSE(is_known(strange));
  EXPECT_EQ(name(strange), "dtype(77)");
  EXPECT_EQ(name(static_cast<DType>(-3)), "dtype(-3)");
  EXPECT_EQ(name(DType::undefined), "undefined");
  EXPECT_EQ(onnx_name(strange), "");
  EXPECT_EQ(kind(strange), DTypeKind::none);
  EXPECT_EQ(bit_width(strange), 0U);
  EXPECT_EQ(packed_bytes(strange, 1), std::nullopt);
  EXPECT_FALSE(is_known(static_cast<DType>(29)));
}

TEST(DType, widths_and_kinds) {
  EXPECT_EQ(bit_width(DType::complex128), 128U);
  EXPECT_EQ(bit_width(DType::boolean), 8U);
  EXPECT_EQ(bit_width(DType::float6e2m3), 6U);
  EXPECT_EQ(bit_width(DType::string), 0U);
  EXPECT_TRUE(is_floating(DType::float8e8m0));
  EXPECT_FALSE(is_floating(DType::complex64));
  EXPECT_TRUE(is_integer(DType::int2));
  EXPECT_FALSE(is_integer(DType::boolean));
}

TEST(DType, packed_bytes_round_up_and_never_overflow) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(packed_bytes(DType::int4, 3), 2U);
  EXPECT_EQ(packed_bytes(DType::uint2, 5), 2U);
  EXPECT_EQ(packed_bytes(DType::float6e2m3, 4), 3U);
  EXPECT_EQ(packed_bytes(DType::float6e2m3, 5), 4U);
  EXPECT_EQ(packed_bytes(DType::float32, 0), 0U);
  EXPECT_EQ(packed_bytes(DType::int4, kMax), kMax / 2 + 1);
  EXPECT_EQ(packed_bytes(DType::uint8, kMax), kMax);
  EXPECT_EQ(packed_bytes(DType::int16, kMax / 2), kMax - 1);
  EXPECT_EQ(packed_bytes(DType::int16, kMax / 2 + 1), std::nullopt);
  EXPECT_EQ(packed_bytes(DType::complex128, kMax / 8), std::nullopt);
}

}  // namespace
}  // namespace assay::tensor
