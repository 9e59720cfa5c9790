#include "ir/pool.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/ids.h"

namespace assay::ir {
namespace {

TEST(PoolTest, KeepsAddressesOverManyChunks) {
  Pool<ValueId, std::string> pool;
  std::vector<const std::string*> places;
  for (uint32_t i = 0; i < 5000; ++i) {
    const ValueId id = pool.add();
    ASSERT_EQ(id.index, i);
    pool[id] = "item number " + std::to_string(i);
    places.push_back(&pool[id]);
  }
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(&pool[ValueId{i}], places[i]);
  const Pool<ValueId, std::string> copy = pool;
  pool[ValueId{77}] = "changed";
  EXPECT_EQ(copy.size(), 5000u);
  EXPECT_EQ(copy[ValueId{77}], "item number 77");
  EXPECT_EQ(copy[ValueId{4999}], "item number 4999");
  const Pool<ValueId, std::string> moved = std::move(pool);
  EXPECT_EQ(moved[ValueId{77}], "changed");
  EXPECT_EQ(&moved[ValueId{31}], places[31]);
}

}  // namespace
}  // namespace assay::ir
