#include "runners/value_compare.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tensor/casts.h"

namespace assay::cases {
namespace {

using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

Tensor make(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, values.size()).value());
  tensor::store(dtype, std::span<const double>(values), 0, bytes);
  return Tensor(dtype, {static_cast<int64_t>(values.size())}, tensor::make_owned(std::move(bytes)));
}

Datum floats(const std::vector<double>& values) { return make(DType::float32, values); }

bool agree(DType dtype, double seen, double expected, const Tolerance& tolerance) {
  return difference(make(dtype, {seen}), make(dtype, {expected}), tolerance).empty();
}

TEST(ValueCompare, kinds_types_and_shapes) {
  EXPECT_EQ(difference(floats({1}), Datum(), {}), "a tensor, expected nothing");
  EXPECT_EQ(difference(floats({1}), make(DType::float16, {1}), {}), "element type float32, expected float16");
  EXPECT_EQ(difference(floats({1, 2}), floats({1}), {}), "shape [2], expected [1]");
  EXPECT_EQ(difference(Datum(), Datum(), {}), "");
}

TEST(ValueCompare, first_difference) {
  EXPECT_EQ(difference(floats({1, 3, 4}), floats({1, 2, 3}), {}),
            "2 of 3 elements differ, the first at [1]: 3, expected 2");
}

TEST(ValueCompare, specials) {
  const double nan = std::nan("");
  EXPECT_TRUE(agree(DType::float32, nan, nan, {}));
  EXPECT_FALSE(agree(DType::float32, nan, 1, {.abs = 9}));
  EXPECT_TRUE(agree(DType::float32, INFINITY, INFINITY, {.bits = true}));
  EXPECT_FALSE(agree(DType::float32, INFINITY, 3e38, {.rel = 1}));
  EXPECT_FALSE(agree(DType::float32, INFINITY, -INFINITY, {.rel = 1}));
  EXPECT_TRUE(agree(DType::float32, -0.0, 0, {}));
  EXPECT_FALSE(agree(DType::float32, -0.0, 0, {.bits = true}));
}

TEST(ValueCompare, tolerances) {
  EXPECT_TRUE(agree(DType::float32, 1 + 0x1p-22, 1, {.ulp = 2}));
  EXPECT_FALSE(agree(DType::float32, 1 + 0x1p-21, 1, {.ulp = 2}));
  EXPECT_TRUE(agree(DType::float16, 1 + 0x1p-10, 1, {.ulp = 1}));
  EXPECT_FALSE(agree(DType::float64, 1 + 0x1p-50, 1, {.ulp = 2}));
  EXPECT_TRUE(agree(DType::float32, 0x1p-149, 0, {.ulp = 1}));
  EXPECT_TRUE(agree(DType::float32, 100.5, 100, {.abs = 0.1, .rel = 0.004}));
  EXPECT_FALSE(agree(DType::float32, 100.51, 100, {.abs = 0.1, .rel = 0.004}));
  EXPECT_TRUE(agree(DType::bfloat16, 1.015625, 1, {.least_bfloat16_rel = 0x1p-6}));
  EXPECT_FALSE(agree(DType::float32, 1.015625, 1, {.least_bfloat16_rel = 0x1p-6}));
  EXPECT_FALSE(agree(DType::int32, 1001, 1000, {.rel = 0.1}));
  EXPECT_FALSE(agree(DType::boolean, 1, 0, {.abs = 1}));
}

TEST(ValueCompare, wide_integers_are_exact) {
  const int64_t numbers[] = {(int64_t{1} << 53) + 1, int64_t{1} << 53};
  const Datum seen = tensor::make_tensor<int64_t>(DType::int64, {1}, std::span(numbers, 1));
  const Datum expected = tensor::make_tensor<int64_t>(DType::int64, {1}, std::span(numbers + 1, 1));
  EXPECT_NE(difference(seen, expected, {}), "");
}

TEST(ValueCompare, strings_sequences_and_maps) {
  const Tensor words(DType::string, {2}, tensor::make_strings({"a", "b"}));
  const Tensor others(DType::string, {2}, tensor::make_strings({"a", "c"}));
  EXPECT_EQ(difference(words, others, {}), "1 of 2 elements differ, the first at [1]: `b`, expected `c`");
  const Datum one = Datum::sequence({floats({1})});
  EXPECT_EQ(difference(one, Datum::sequence({}), {}), "a sequence of 1 items, expected 0");
  EXPECT_EQ(difference(one, Datum::sequence({floats({2})}), {}),
            "item 0: 1 of 1 elements differ, the first at [0]: 1, expected 2");
  const Tensor values = make(DType::float32, {1, 2});
  EXPECT_EQ(difference(Datum::map(words, values), Datum::map(words, values), {}), "");
  EXPECT_EQ(difference(Datum::map(words, values), Datum::map(others, values), {}),
            "keys: 1 of 2 elements differ, the first at [1]: `b`, expected `c`");
}

TEST(ValueCompare, the_declared_type_counts) {
  const Tensor wide = make(DType::float64, {1});
  EXPECT_EQ(difference(Datum(wide, DType::float32), floats({1}), {}), "");
}

}  // namespace
}  // namespace assay::cases
