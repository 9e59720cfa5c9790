#include "base/trim.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Trimmed, takes_blanks_from_both_ends_only) {
  EXPECT_EQ(trimmed(" a b\t\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \ta ", " "), "\ta");
}

}  // namespace
}  // namespace assay
