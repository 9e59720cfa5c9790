#include "scene/values.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::scene {
namespace {

tensor::Tensor floats(tensor::Shape shape, std::vector<float> elements) {
  return tensor::make_tensor<float>(tensor::DType::float32, std::move(shape), elements);
}

tensor::Tensor counted(tensor::Shape shape) {
  std::vector<float> elements(
      static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), 1LL, std::multiplies<>())));
  std::iota(elements.begin(), elements.end(), 0.0F);
  return floats(std::move(shape), std::move(elements));
}

TEST(ValueFacts, counts_by_hand) {
  const float infinity = std::numeric_limits<float>::infinity();
  const results::ValueFacts facts = value_facts(floats({2, 4}, {0, -0.0F, 1, 3, 1e-40F, 1e6F, infinity, -2}), 0);
  EXPECT_EQ(facts.stats.count, 8u);
  EXPECT_EQ(facts.zeros, 2u);
  EXPECT_EQ(facts.subnormals, 1u);
  EXPECT_EQ(facts.outside_float16, 1u);
  EXPECT_EQ(facts.stats.inf_count, 1u);
  ASSERT_EQ(facts.channels.size(), 2u);
  EXPECT_EQ(facts.channels[0].least, 0);
  EXPECT_EQ(facts.channels[0].mean, 1);
  EXPECT_EQ(facts.channels[0].greatest, 3);
  EXPECT_EQ(facts.channels[1].least, -2);
}

TEST(ValueFacts, magnitudes_are_logarithms) {
  const results::ValueFacts facts = value_facts(floats({4}, {1, 1.5F, 4, 0}), 0);
  ASSERT_EQ(facts.magnitudes.counts, (std::vector<uint64_t>{2, 0, 1}));
  EXPECT_DOUBLE_EQ(facts.magnitudes.edges[0], 0);
  EXPECT_DOUBLE_EQ(facts.magnitudes.edges[2], std::log10(4));
  EXPECT_TRUE(facts.channels.empty());
}

TEST(ValueFacts, texts_are_refused) {
  const tensor::Tensor texts(tensor::DType::string, {1}, tensor::make_strings({"a"}));
  EXPECT_THROW(value_facts(texts, 0), Error);
}

TEST(ValueSlice, rows_and_columns) {
  const results::ValueSlice whole = value_slice(counted({2, 3}), "", Reduction::greatest, 512);
  EXPECT_EQ(whole.rows, 2u);
  EXPECT_EQ(whole.columns, 3u);
  EXPECT_EQ(whole.cells, (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(whole.is_reduced);
  EXPECT_EQ(value_slice(counted({2, 3, 4}), "1,:,2", Reduction::greatest, 512).cells, (std::vector<float>{14, 18, 22}));
  EXPECT_EQ(value_slice(counted({2, 3, 4}), ":,-1,::2", Reduction::greatest, 512).cells,
            (std::vector<float>{8, 10, 20, 22}));
  EXPECT_EQ(value_slice(counted({3, 20}), ":,0", Reduction::greatest, 512).cells, (std::vector<float>{0, 20, 40}));
  EXPECT_EQ(value_slice(counted({}), "", Reduction::greatest, 512).cells, (std::vector<float>{0}));
  EXPECT_TRUE(value_slice(counted({0, 3}), "", Reduction::greatest, 512).cells.empty());
}

TEST(ValueSlice, cells_stand_for_blocks) {
  const tensor::Tensor tensor = counted({4, 4});
  EXPECT_EQ(value_slice(tensor, "", Reduction::greatest, 2).cells, (std::vector<float>{5, 7, 13, 15}));
  EXPECT_EQ(value_slice(tensor, "", Reduction::least, 2).cells, (std::vector<float>{0, 2, 8, 10}));
  const results::ValueSlice mean = value_slice(tensor, "", Reduction::mean, 2);
  EXPECT_EQ(mean.cells, (std::vector<float>{2.5F, 4.5F, 10.5F, 12.5F}));
  EXPECT_TRUE(mean.is_reduced);
  EXPECT_EQ(mean.least, 2.5);
  EXPECT_EQ(mean.greatest, 12.5);
}

TEST(ValueSlice, what_the_tensor_does_not_have) {
  EXPECT_THROW(value_slice(counted({2, 3}), "0,0,0", Reduction::mean, 2), Error);
  EXPECT_THROW(value_slice(counted({2, 3}), "2", Reduction::mean, 2), Error);
  EXPECT_THROW(value_slice(counted({2, 3}), "x", Reduction::mean, 2), Error);
}

TEST(CompareValues, the_worst_first) {
  const results::ValueComparison found = compare_values(floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {1, 2.5F, 1, 4}));
  ASSERT_EQ(found.worst.size(), 2u);
  EXPECT_EQ(found.worst[0].at, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(found.worst[0].right, 1);
  EXPECT_EQ(found.worst[1].at, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(found.points.size(), 4u);
  ASSERT_EQ(found.histograms.size(), 2u);
  EXPECT_EQ(found.histograms[0].edges.front(), 1);
  EXPECT_THROW(compare_values(counted({2}), counted({3})), Error);
}

}  // namespace
}  // namespace assay::scene
