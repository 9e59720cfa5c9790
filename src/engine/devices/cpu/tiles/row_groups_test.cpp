#include "engine/devices/cpu/tiles/row_groups.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

TEST(RowGroups, RowsOfABlockThatReadTheSameAreTogether) {
  const std::vector<uint64_t> steps = {3, 1, 3, 1, 0, 2, 2, 3, 3, 1};
  const auto steps_of = [&](int64_t row) { return steps[static_cast<size_t>(row)]; };
  constexpr int64_t kBlock = 4;
  const RowGroups groups(static_cast<int64_t>(steps.size()), kBlock, steps_of);
  std::set<int64_t> rows;
  for (const auto& [first, count] : {std::pair(0, 2), {4, 3}, {8, 2}}) {
    ASSERT_EQ(groups.of_block(first).size(), static_cast<size_t>(count)) << first;
    std::set<uint64_t> kinds;
    for (const RowGroups::Group& group : groups.of_block(first)) {
      kinds.insert(group.steps);
      for (int64_t i = group.begin; i < group.end; ++i) {
        const int64_t row = first + groups.order_of_block(first)[i];
        EXPECT_EQ(group.steps, steps_of(row)) << row;
        rows.insert(row);
      }
    }
    EXPECT_EQ(kinds.size(), static_cast<size_t>(count)) << first;
  }
  EXPECT_EQ(rows.size(), steps.size());
  EXPECT_FALSE(groups.is_empty());
  EXPECT_TRUE(RowGroups().is_empty());
}

}  // namespace
}  // namespace assay::engine::cpu
