#include "analysis/input_roles.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::analysis {
namespace {

using exec::InputRole;

std::vector<InputRole> roles(const char* text) { return input_roles(testing_support::parsed(text)); }

TEST(InputRoles, the_smallest_table_limits_an_index_also_through_a_cast) {
  const std::vector<InputRole> found = roles(
      "g (int32[2] ids, float[2] x) => (float[2, 3] a, float[2] b) "
      "<float[2, 3] big = {1, 2, 3, 4, 5, 6}, float[4] small = {1, 2, 3, 4}> "
      "{ wide = Cast <to = 7> (ids) a = Gather(big, wide) b = Gather(small, wide) }");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "ids");
  EXPECT_EQ(found[0].kind, InputRole::Kind::index);
  EXPECT_EQ(found[0].rows, 2);
}

TEST(InputRoles, AnIndexIsFollowedThroughAllThatMovesElements) {
  const std::vector<InputRole> found = roles(
      "g (int64[4] ids) => (float[4] a) <float[5] table = {1, 2, 3, 4, 5}, int64[1] twice = {2}> "
      "{ first, second = Split<axis = 0, num_outputs = 2>(ids) all = Tile(first, twice) a = Gather(table, all) }");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rows, 5);
}

TEST(InputRoles, PlacesOfScatteredElementsAreLimited) {
  const std::vector<InputRole> found = roles(
      "g (int64[2] ids, float[2] updates) => (float[3] y) <float[3] data = {1, 2, 3}> "
      "{ y = ScatterElements(data, ids, updates) }");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "ids");
  EXPECT_EQ(found[0].rows, 3);
}

TEST(InputRoles, WordsAreLimitedByTheirTableAlsoOfCodes) {
  const std::vector<InputRole> found = roles(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]> g (int32[1,2] words) => (float[1,2,2] y) "
      "<uint8[3,2] table = {1, 2, 3, 4, 5, 6}, uint8[2,2] places = {1, 2, 3, 4}, uint8[2] n = {1, 2}> "
      "{ y, m = com.microsoft.QEmbedLayerNormalization(words, , table, places, , n, n) }");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rows, 3);
}

TEST(InputRoles, masks_go_by_their_name) {
  const std::vector<InputRole> found = roles(
      "g (int64[2] attention_mask, float[2] mask_like) => (float[2] y) { f = Cast <to = 1> (attention_mask) "
      "y = Mul(f, mask_like) }");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, InputRole::Kind::mask);
}

}  // namespace
}  // namespace assay::analysis
