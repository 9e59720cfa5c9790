#include "cli/help/wrap.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

TEST(Wrap, breaks_at_blanks_within_the_width) {
  EXPECT_EQ(wrap("aaa bbb ccc", 0, 7), "aaa bbb\nccc");
  EXPECT_EQ(wrap("aaa bbb ccc", 0, 6), "aaa\nbbb\nccc");
  EXPECT_EQ(wrap("aaa bbb ccc", 0, 11), "aaa bbb ccc");
  EXPECT_EQ(wrap("aaa bbb", 4, 8), "aaa\n    bbb");
}

TEST(Wrap, long_words_are_not_cut) { EXPECT_EQ(wrap("a bbbbbbbbbb c", 2, 6), "a\n  bbbbbbbbbb\n  c"); }

TEST(Wrap, paragraphs_stay) { EXPECT_EQ(wrap("aaa\n\nbbb", 2, 10), "aaa\n\n  bbb"); }

}  // namespace
}  // namespace assay::cli
