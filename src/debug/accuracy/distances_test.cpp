#include "debug/accuracy/distances.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace assay::debug {
namespace {

using tensor::Datum;
using tensor::DType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Datum row(const std::vector<double>& numbers) {
  const tensor::Shape shape = {1, static_cast<int64_t>(numbers.size())};
  return Datum(tensor::make_tensor(DType::float64, shape, std::span<const double>(numbers)));
}

Datum float_row(const std::vector<float>& numbers) {
  const tensor::Shape shape = {1, static_cast<int64_t>(numbers.size())};
  return Datum(tensor::make_tensor(DType::float32, shape, std::span<const float>(numbers)));
}

TEST(Distances, of_a_few_numbers) {
  const Distances found =
      measure_distances(row({1.5, -2, 3}), row({1, -2, 4}), row({1, -4, 4}), {.own = 0.125, .rms = 1});
  EXPECT_EQ(found.introduced, 1);
  EXPECT_EQ(found.inherited, 2);
  EXPECT_EQ(found.total, 2);
  EXPECT_DOUBLE_EQ(found.magnitude, std::sqrt(33.0 / 3));
  EXPECT_EQ(found.excess, 2);  // 0.5 of 2 * 0.125 * 1
  EXPECT_EQ(found.tolerance_there, 0.25);
}

TEST(Distances, what_is_around_counts) {
  // The root of the mean square is 5; the tolerances are 2 * (0.1 * 7 + 0.2 * 5) and 2 * (0.1 * 1 + 0.2 * 5).
  const Distances found = measure_distances(row({7, 1.5}), row({7, 1}), {}, {.own = 0.1, .around = 0.2, .rms = 1});
  EXPECT_DOUBLE_EQ(found.tolerance_there, 2.2);
  EXPECT_DOUBLE_EQ(found.excess, 0.5 / 2.2);
}

TEST(Distances, mean_squares_see_what_is_small_everywhere) {
  const Distances found = measure_distances(row({1.5, 2.5}), row({1, 2}), {}, {.own = 100, .rms = 0.01});
  EXPECT_DOUBLE_EQ(found.excess, std::sqrt(0.5) / (2 * 0.01 * std::sqrt(5.0)));
}

// Each place of a row in which lanes are filled and a rest is left, and all that numbers may be.
TEST(Distances, every_place_of_a_row_counts) {
  for (size_t size : {1, 31, 32, 33, 95, 200}) {
    for (size_t at = 0; at < size; ++at) {
      const std::vector<double> exact(size, 1);
      std::vector<double> given = exact;
      given[at] = 1.25;
      const RoughAllowance rough{.own = 0.25, .rms = 1e9};
      const Distances found = measure_distances(row(given), row(exact), row(exact), rough);
      EXPECT_EQ(found.introduced, 0.25) << size << ' ' << at;
      EXPECT_EQ(found.total, 0.25);
      EXPECT_EQ(found.excess, 0.5);
      std::vector<double> truth = exact;
      truth[at] = 0.5;
      EXPECT_EQ(measure_distances(row(exact), row(exact), row(truth), rough).inherited, 0.5) << size << ' ' << at;
      given[at] = kNan;
      EXPECT_EQ(measure_distances(row(given), row(exact), {}, rough).excess, kInfinity) << size << ' ' << at;
    }
  }
}

TEST(Distances, the_same_infinity_and_nan_are_no_difference) {
  std::vector<double> numbers(40, 2);
  numbers[3] = kInfinity;
  numbers[35] = kNan;
  std::vector<double> given = numbers;
  given[7] = 2.5;
  const Distances found = measure_distances(row(given), row(numbers), row(numbers), {.own = 1, .rms = 1});
  EXPECT_EQ(found.introduced, 0.5);
  EXPECT_EQ(found.inherited, 0);
  EXPECT_EQ(found.excess, 0.125);
  given[3] = -kInfinity;
  EXPECT_EQ(measure_distances(row(given), row(numbers), {}, {.own = 1, .rms = 1}).introduced, kInfinity);
}

TEST(Distances, infinite_neighbours_raise_no_allowance) {
  const Distances found =
      measure_distances(row({kInfinity, 3, 4.5}), row({kInfinity, 3, 4}), {}, {.around = 1, .rms = 1e9});
  EXPECT_DOUBLE_EQ(found.tolerance_there, 2 * std::sqrt(25.0 / 3));
}

TEST(Distances, where_nothing_is_allowed_any_difference_is_too_much) {
  const Distances same = measure_distances(row({0, 0}), row({0, 0}), {}, {.own = 1, .around = 1, .rms = 1});
  EXPECT_EQ(same.excess, 0);
  const Distances off = measure_distances(row({0, 1e-30}), row({0, 0}), {}, {.own = 1, .around = 1, .rms = 1});
  EXPECT_EQ(off.excess, kInfinity);
}

TEST(Distances, of_narrower_numbers) {
  std::vector<float> given(50, 0.5F);
  given[49] = 0.75F;
  const Distances found = measure_distances(float_row(given), row(std::vector<double>(50, 0.5)), {}, {.own = 1});
  EXPECT_EQ(found.introduced, 0.25);
}

}  // namespace
}  // namespace assay::debug
