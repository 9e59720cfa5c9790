#include "compare/heat_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"
#include "compare/scatter.h"

namespace assay::compare {
namespace {

using results::HeatMap;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr PictureLimit kSmall = {.rows = 64, .columns = 64};
constexpr float kNone = HeatMap::kNoElement;

Tensor shaped_floats(Shape shape, std::vector<float> elements) {
  return tensor::make_tensor<float>(DType::float32, std::move(shape), elements);
}

Tensor zeros(Shape shape) {
  uint64_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<uint64_t>(dim);
  return shaped_floats(std::move(shape), std::vector<float>(count));
}

TEST(HeatMap, IsOneCellForEachElementOfAnImage) {
  const auto maps =
      difference_maps(shaped_floats({2, 3}, {1, 2, 3, 4, 5, 6}), shaped_floats({2, 3}, {1, 4, 3, 4, 5, 3}), kSmall);
  EXPECT_EQ(maps.absolute.rows, 2u);
  EXPECT_EQ(maps.absolute.columns, 3u);
  EXPECT_EQ(maps.absolute.cells, (std::vector<float>{0, 2, 0, 0, 0, 3}));
  EXPECT_EQ(maps.relative.cells, (std::vector<float>{0, 0.5, 0, 0, 0, 1}));
  EXPECT_FALSE(maps.is_reduced);
}

TEST(HeatMap, PutsImagesSideBySideWithAGap) {
  const auto maps = difference_maps(shaped_floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), zeros({2, 2, 2}), kSmall);
  EXPECT_EQ(maps.absolute.rows * maps.absolute.columns, 10u);
  ASSERT_EQ(maps.absolute.columns, 5u);
  EXPECT_EQ(maps.absolute.cells, (std::vector<float>{1, 2, kNone, 5, 6, 3, 4, kNone, 7, 8}));
}

TEST(HeatMap, ReducesToTheGreatestOfACell) {
  std::vector<float> elements(200 * 300);
  elements[199 * 300 + 299] = 7;
  elements[0] = 5;
  const auto maps = difference_maps(shaped_floats({200, 300}, elements), zeros({200, 300}), {.rows = 2, .columns = 3});
  EXPECT_EQ(maps.absolute.cells, (std::vector<float>{5, 0, 0, 0, 0, 7}));
  EXPECT_TRUE(maps.is_reduced);
}

TEST(HeatMap, KeepsNaNAndInfinity) {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  const auto maps =
      difference_maps(shaped_floats({4, 2}, {nan, 1, 2, nan, inf, 3, 4, 5}), zeros({4, 2}), {.rows = 2, .columns = 1});
  ASSERT_EQ(maps.absolute.cells.size(), 2u);
  EXPECT_TRUE(std::isnan(maps.absolute.cells[0]));
  EXPECT_EQ(maps.absolute.cells[1], inf);
}

TEST(HeatMap, EqualInfinitiesMayBeEqual) {
  const Tensor x =
      shaped_floats({2}, {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()});
  EXPECT_EQ(difference_maps(x, x, kSmall, true).absolute.cells, (std::vector<float>{0, 0}));
  EXPECT_TRUE(std::isnan(difference_maps(x, x, kSmall, false).absolute.cells[0]));
}

TEST(HeatMap, OfNothingIsEmpty) {
  EXPECT_TRUE(difference_maps(zeros({0}), zeros({0}), kSmall).absolute.cells.empty());
  EXPECT_TRUE(difference_maps(zeros({3, 0, 4}), zeros({3, 0, 4}), kSmall).relative.cells.empty());
}

TEST(HeatMap, TakesScalarsAndLongLines) {
  EXPECT_EQ(difference_maps(shaped_floats({}, {3}), shaped_floats({}, {1}), kSmall).absolute.cells,
            (std::vector<float>{2}));
  std::vector<float> line(1000);
  std::iota(line.begin(), line.end(), 0.0F);
  const HeatMap map = difference_maps(shaped_floats({1000}, line), zeros({1000}), kSmall).absolute;
  EXPECT_EQ(map.rows, 32u);
  EXPECT_EQ(map.columns, 32u);
  EXPECT_EQ(map.cells[33], 33);
  EXPECT_EQ(map.cells[1000], kNone);
}

TEST(HeatMap, StaysWithinItsLimitWhateverTheShape) {
  for (const Shape& shape : {Shape{1, 512, 1, 1}, Shape{100, 7, 3}, Shape{5000, 2, 2}, Shape{1, 1, 3, 70000},
                             Shape{70000, 1, 1, 3}, Shape{3, 70000}, Shape{70000, 3}, Shape{2, 300, 3, 5, 7}}) {
    uint64_t count = 1;
    for (const int64_t dim : shape) count *= static_cast<uint64_t>(dim);
    std::vector<float> elements(count);
    elements[count / 3] = 2;
    elements.back() = 9;
    const HeatMap map = difference_maps(shaped_floats(shape, elements), zeros(shape), kSmall).absolute;
    EXPECT_LE(map.rows, 64u);
    EXPECT_LE(map.columns, 64u);
    EXPECT_EQ(map.cells.size(), uint64_t{map.rows} * map.columns);
    EXPECT_EQ(std::ranges::count(map.cells, 9.0F), 1);
    EXPECT_EQ(std::ranges::count(map.cells, 2.0F), 1);
  }
}

// Nothing is read of 10^15 equal elements.
TEST(HeatMap, OfHugeFillsCostsNothing) {
  const auto fill = [](float value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    const uint64_t count = 1'000'000'000'000'000;
    return Tensor(DType::float32, {1000, 1'000'000, 1'000'000}, tensor::make_fill({bytes, bytes + 4}, count));
  };
  const HeatMap map = difference_maps(fill(3), fill(1), kSmall).absolute;
  EXPECT_LE(map.rows, 64u);
  ASSERT_FALSE(map.cells.empty());
  EXPECT_EQ(map.cells.front(), 2);
}

TEST(HeatMap, IntegersKeepSmallDifferences) {
  const int64_t big = int64_t{1} << 62;
  const auto a = tensor::make_tensor<int64_t>(DType::int64, {3}, std::vector<int64_t>{big, -big, INT64_MIN});
  const auto b = tensor::make_tensor<int64_t>(DType::int64, {3}, std::vector<int64_t>{big + 1, -big, INT64_MAX});
  EXPECT_EQ(difference_maps(a, b, kSmall).absolute.cells, (std::vector<float>{1, 0, 18446744073709551616.0F}));
}

TEST(HeatMap, RefusesStrings) {
  const Tensor strings(DType::string, {1}, tensor::make_strings({"a"}));
  EXPECT_THROW(difference_maps(strings, strings, kSmall), Error);
}

TEST(HeatMap, DoesNotDependOnThreads) {
  std::vector<float> elements(1'500'000);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i * 2654435761U % 1000003U);
  const Tensor a = shaped_floats({3, 500, 1000}, elements);
  const unsigned before = thread_count();
  set_thread_count(1);
  const auto one = difference_maps(a, zeros({3, 500, 1000}), kSmall);
  const auto one_plot = scatter(a, shaped_floats({3, 500, 1000}, std::vector<float>(elements.size(), 1)), {});
  set_thread_count(4);
  EXPECT_EQ(difference_maps(a, zeros({3, 500, 1000}), kSmall).absolute.cells, one.absolute.cells);
  EXPECT_EQ(scatter(a, shaped_floats({3, 500, 1000}, std::vector<float>(elements.size(), 1)), {}).absolute.counts,
            one_plot.absolute.counts);
  set_thread_count(before);
}

TEST(HeatMap, IsReducedAgain) {
  const HeatMap map = {2, 4, {1, 2, 3, 4, 5, 6, kNone, kNone}};
  const HeatMap result = reduced(map, {.rows = 2, .columns = 2});
  EXPECT_EQ(result.cells, (std::vector<float>{2, 4, 6, kNone}));
}

TEST(Scatter, CountsWhereElementsLie) {
  const auto plot =
      scatter(shaped_floats({4}, {1, 2, 4, 8}), shaped_floats({4}, {1, 1, 4, 4}), {.columns = 4, .rows = 4});
  EXPECT_EQ(plot.magnitude.greatest, 4);
  EXPECT_EQ(plot.absolute.difference.greatest, 4);
  // The row of the greatest difference comes first; magnitudes 1 and 4 lie in the columns 1 and 3.
  EXPECT_EQ(plot.absolute.counts, (std::vector<uint32_t>{0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(std::accumulate(plot.relative.counts.begin(), plot.relative.counts.end(), 0U), 2U);
}

TEST(Scatter, LeavesOutWhatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto plot =
      scatter(shaped_floats({3}, {std::nanf(""), inf, 1}), shaped_floats({3}, {0, 0, 1}), {.columns = 2, .rows = 2});
  EXPECT_EQ(plot.left_out, 2u);
  EXPECT_EQ(std::accumulate(plot.absolute.counts.begin(), plot.absolute.counts.end(), 0U), 1U);
}

TEST(Scatter, OfNothingHasNoDots) {
  const auto plot = scatter(zeros({0}), zeros({0}), {.columns = 2, .rows = 2});
  EXPECT_EQ(plot.absolute.counts, std::vector<uint32_t>(4));
  EXPECT_EQ(plot.relative.counts, std::vector<uint32_t>(4));
}

TEST(Scatter, TakesExtremeNumbers) {
  const double least = std::numeric_limits<double>::denorm_min();
  const double most = std::numeric_limits<double>::max();
  const auto a = tensor::make_tensor<double>(DType::float64, {3}, std::vector<double>{least, most, 0});
  const auto b = tensor::make_tensor<double>(DType::float64, {3}, std::vector<double>{2 * least, 1, most});
  const auto plot = scatter(a, b, {.columns = 8, .rows = 8});
  EXPECT_EQ(std::accumulate(plot.absolute.counts.begin(), plot.absolute.counts.end(), 0U), 3U);
  EXPECT_GT(plot.relative.difference.greatest, plot.relative.difference.least);
  const auto tiny = tensor::make_tensor<double>(DType::float64, {2}, std::vector<double>{0, least});
  const auto none = tensor::make_tensor<double>(DType::float64, {2}, std::vector<double>{0, 0});
  EXPECT_EQ(scatter(tiny, none, {.columns = 2, .rows = 2}).absolute.counts, (std::vector<uint32_t>{1, 0, 1, 0}));
}

}  // namespace
}  // namespace assay::compare
