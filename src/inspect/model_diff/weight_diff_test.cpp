#include "inspect/model_diff/weight_diff.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tensor/casts.h"

namespace assay::inspect {
namespace {

using results::TensorDistance;
using tensor::DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

ir::TensorEntry entry_of(DType dtype, tensor::Shape shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, values.size()));
  tensor::store(dtype, values, 0, bytes);
  ir::TensorEntry entry;
  entry.tensor = tensor::Tensor(dtype, std::move(shape), tensor::make_owned(std::move(bytes)));
  return entry;
}

ir::TensorEntry floats(const std::vector<double>& values, DType dtype = DType::float32) {
  return entry_of(dtype, {static_cast<int64_t>(values.size())}, values);
}

template <typename T>
ir::TensorEntry numbers(DType dtype, const std::vector<T>& values) {
  ir::TensorEntry entry;
  entry.tensor = tensor::make_tensor<T>(dtype, {static_cast<int64_t>(values.size())}, values);
  return entry;
}

TEST(WeightDiff, numbers_by_hand) {
  const TensorDistance d = tensor_distance(entry_of(DType::float32, {2, 3}, {1, 2, 3, 4, 5, 6}),
                                           entry_of(DType::float32, {2, 3}, {1, 2, 3, 4.5, 5, 4}), {});
  EXPECT_EQ(d.count, 6u);
  EXPECT_EQ(d.differing_count, 2u);
  EXPECT_DOUBLE_EQ(d.max_abs, 2);
  EXPECT_DOUBLE_EQ(d.max_rel, 0.5);
  EXPECT_DOUBLE_EQ(d.mean_abs, 2.5 / 6);
  EXPECT_DOUBLE_EQ(d.relative_norm, std::sqrt(4.25 / 91));
  EXPECT_EQ(d.first_differing, (std::vector<int64_t>{1, 0}));
}

TEST(WeightDiff, norms_of_any_size) {
  EXPECT_DOUBLE_EQ(
      tensor_distance(numbers<double>(DType::float64, {1e300, 0}), numbers<double>(DType::float64, {0, 0}), {})
          .relative_norm,
      1);
  EXPECT_EQ(tensor_distance(floats({0, 0}), floats({0, 1}), {}).relative_norm, kInf);
  EXPECT_EQ(tensor_distance(floats({0, kNan}), floats({0, 1}), {}).relative_norm, 0);
}

TEST(WeightDiff, tolerance_refers_to_the_second_side) {
  const ir::TensorEntry a = floats({10});
  const ir::TensorEntry b = floats({11});
  EXPECT_EQ(tensor_distance(a, b, {.rtol = 0.095}).differing_count, 0u);
  EXPECT_EQ(tensor_distance(b, a, {.rtol = 0.095}).differing_count, 1u);
  EXPECT_EQ(tensor_distance(b, a, {.rtol = 0.09, .atol = 0.2}).differing_count, 0u);
  EXPECT_EQ(tensor_distance(b, a, {.atol = 1}).differing_count, 0u);
}

TEST(WeightDiff, special_values) {
  const TensorDistance d = tensor_distance(floats({kNan, kNan, 1, kInf, kInf, kInf, -0.0}),
                                           floats({kNan, 1, kNan, kInf, -kInf, 1, 0.0}), {.rtol = 0, .atol = 0});
  EXPECT_EQ(d.differing_count, 4u);
  EXPECT_EQ(d.first_differing, (std::vector<int64_t>{1}));
  EXPECT_EQ(d.nan_count_before, 2u);
  EXPECT_EQ(d.nan_count_after, 2u);
  EXPECT_EQ(d.inf_count_before, 3u);
  EXPECT_EQ(d.inf_count_after, 2u);
  EXPECT_EQ(d.max_abs, 0);
}

TEST(WeightDiff, zeros_of_both_signs_are_other_bits_but_equal_numbers) {
  EXPECT_FALSE(same_elements(floats({0.0}), floats({-0.0})));
  EXPECT_EQ(tensor_distance(floats({0.0}), floats({-0.0}), {}).differing_count, 0u);
}

TEST(WeightDiff, infinity_differs_whatever_the_tolerance) {
  const Tolerance wide = {.rtol = 1e30, .atol = 1e30};
  EXPECT_EQ(tensor_distance(floats({kInf, 1, kInf, kInf}), floats({1, kInf, -kInf, kInf}), wide).differing_count, 3u);
}

TEST(WeightDiff, large_integers_are_not_rounded) {
  constexpr int64_t big = int64_t{1} << 62;
  const TensorDistance d =
      tensor_distance(numbers<int64_t>(DType::int64, {big, big}), numbers<int64_t>(DType::int64, {big, big + 1}), {});
  EXPECT_EQ(d.differing_count, 1u);
  EXPECT_EQ(d.max_abs, 1);
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(
      tensor_distance(numbers<int64_t>(DType::int64, {least}), numbers<int64_t>(DType::int64, {most}), {}).max_abs,
      0x1p64);
  const auto unsigned_far =
      tensor_distance(numbers<uint64_t>(DType::uint64, {0}),
                      numbers<uint64_t>(DType::uint64, {std::numeric_limits<uint64_t>::max()}), {});
  EXPECT_EQ(unsigned_far.max_abs, 0x1p64);
}

TEST(WeightDiff, narrow_complex_and_unknown_types) {
  const TensorDistance narrow = tensor_distance(floats({1, -8, 7}, DType::int4), floats({1, -8, 6}, DType::int4), {});
  EXPECT_EQ(narrow.first_differing, (std::vector<int64_t>{2}));
  EXPECT_EQ(narrow.max_abs, 1);
  const auto complex = [](float re, float im) {
    ir::TensorEntry entry;
    entry.tensor = tensor::make_tensor<float>(DType::complex64, {1}, std::array{re, im});
    return entry;
  };
  EXPECT_DOUBLE_EQ(tensor_distance(complex(0, 0), complex(3, 4), {}).max_abs, 5);
  const DType unknown = static_cast<DType>(77);
  const TensorDistance bytes =
      tensor_distance(numbers<uint8_t>(unknown, {1, 2, 3}), numbers<uint8_t>(unknown, {1, 9, 3}), {});
  EXPECT_FALSE(bytes.numeric);
  EXPECT_EQ(bytes.differing_count, 1u);
}

TEST(WeightDiff, strings) {
  const auto strings = [](std::vector<std::string> texts) {
    ir::TensorEntry entry;
    const tensor::Shape shape = {static_cast<int64_t>(texts.size())};
    entry.tensor = tensor::Tensor(DType::string, shape, tensor::make_strings(std::move(texts)));
    return entry;
  };
  EXPECT_TRUE(same_elements(strings({"a", "b"}), strings({"a", "b"})));
  EXPECT_FALSE(same_elements(strings({"a", "b"}), strings({"a", "c"})));
  EXPECT_EQ(tensor_distance(strings({"a", "b"}), strings({"a", "c"}), {}).differing_count, 1u);
}

TEST(WeightDiff, tiles_do_not_show) {
  std::mt19937 random(3);
  std::vector<double> values(3 * 4096 + 77);
  for (double& value : values) value = static_cast<double>(random() % 1000);
  std::vector<double> changed = values;
  double sum = 0;
  for (const size_t place : {size_t{4095}, size_t{4096}, size_t{9000}, values.size() - 1}) {
    changed[place] += 5;
    sum += 5;
  }
  const TensorDistance d = tensor_distance(floats(values), floats(changed), {});
  EXPECT_EQ(d.differing_count, 4u);
  EXPECT_EQ(d.first_differing, (std::vector<int64_t>{4095}));
  double squares = 0;
  for (const double value : values) squares += value * value;
  EXPECT_NEAR(d.relative_norm, std::sqrt(4 * 25 / squares), 1e-12);
  EXPECT_NEAR(d.mean_abs, sum / static_cast<double>(values.size()), 1e-12);
}

}  // namespace
}  // namespace assay::inspect
