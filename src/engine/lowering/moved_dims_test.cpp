#include "engine/lowering/moved_dims.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

using tensor::Shape;

TEST(MovedDims, JoinsWhatALaterMoveDivides) {
  MovedDims dims({5, 2, 12});
  ASSERT_TRUE(dims.reshape({5, 6, 4}));
  dims.transpose(std::vector<int64_t>{1, 0, 2});
  EXPECT_EQ(dims.dims(), (Shape{6, 5, 4}));
  ASSERT_TRUE(dims.reshape({2, 3, 5, 4}));
  EXPECT_EQ(dims.dims(), (Shape{2, 3, 5, 4}));
  EXPECT_EQ(dims.node_count(), 2u);  // [5, 2, 3, 4], turned
  EXPECT_FALSE(dims.keeps_order());
  EXPECT_FALSE(dims.keeps_last());
}

TEST(MovedDims, SeesWhereNothingMoves) {
  MovedDims dims({3, 1, 4});
  dims.transpose(std::vector<int64_t>{1, 0, 2});
  EXPECT_TRUE(dims.keeps_order());
  EXPECT_TRUE(dims.keeps_last());
  EXPECT_EQ(dims.node_count(), 1u);
  ASSERT_TRUE(dims.reshape({3, 1, 4}));
  EXPECT_EQ(dims.node_count(), 0u);
  dims.transpose(std::vector<int64_t>{2, 1, 0});
  dims.transpose(std::vector<int64_t>{2, 1, 0});
  EXPECT_EQ(dims.node_count(), 0u);
}

TEST(MovedDims, RefusesDimsThatFactorsDoNotMake) {
  MovedDims dims({4, 6});
  dims.transpose(std::vector<int64_t>{1, 0});
  EXPECT_FALSE(dims.reshape({4, 6}));
  EXPECT_FALSE(dims.reshape({24, 2}));
  EXPECT_FALSE(dims.reshape({12}));
  EXPECT_EQ(dims.dims(), (Shape{6, 4}));
  EXPECT_TRUE(dims.reshape({3, 8}));
  EXPECT_EQ(dims.node_count(), 3u);
}

TEST(MovedDims, TakesAnotherLastDim) {
  MovedDims dims({2, 3, 8});
  dims.transpose(std::vector<int64_t>{1, 0, 2});
  ASSERT_TRUE(dims.keeps_last());
  dims.set_last(20);
  EXPECT_EQ(dims.dims(), (Shape{3, 2, 20}));
  EXPECT_EQ(dims.node_count(), 1u);
  ASSERT_TRUE(dims.reshape({6, 20}));
  EXPECT_TRUE(dims.keeps_last());
  ASSERT_TRUE(dims.reshape({6, 4, 5}));
  EXPECT_FALSE(dims.keeps_last());
}

}  // namespace
}  // namespace assay::engine
