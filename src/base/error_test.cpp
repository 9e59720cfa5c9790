#include "base/error.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string line_with(int frames) {
  Error error(ErrorCode::usage, "reason");
  for (int i = frames; i > 0; --i) error.add_frame(fmt::format("f{}", i));
  return error.line();
}

TEST(ErrorTest, FramesStandFromTheOutermostInwards) { EXPECT_EQ(line_with(2), "f1: f2: reason"); }

TEST(ErrorTest, LongChainsKeepTheirEnds) {
  EXPECT_EQ(line_with(6), "f1: f2: f3: f4: f5: f6: reason");
  EXPECT_EQ(line_with(7), "f1: f2: f3: ... (1 more): f5: f6: f7: reason");
  EXPECT_EQ(line_with(1000), "f1: f2: f3: ... (994 more): f998: f999: f1000: reason");
}

}  // namespace
}  // namespace assay
