#include "engine/program/layer_record.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

TEST(LayerRecord, TitlesNameTheNodes) {
  EXPECT_EQ(title_of({.name = "y", .origins = {"conv1", "relu1", "conv1"}}), "conv1 + relu1");
  EXPECT_EQ(title_of({.name = "y", .origins = {"a", "b", "c", "d"}}), "a + b + c + d");
  EXPECT_EQ(title_of({.name = "y", .origins = {"a", "b", "c", "d", "e"}}), "a + b + c + 2 more");
  EXPECT_EQ(title_of({.name = "y"}), "y");
  EXPECT_EQ(title_of({.inputs = {{.name = "x"}}}), "copy of x");
}

}  // namespace
}  // namespace assay::engine
