#include "scene/repeats.h"

#include <string_view>

#include <gtest/gtest.h>

namespace assay::scene {
namespace {

std::vector<match::Repeat> chosen(std::string_view letters, std::string_view living = "") {
  const std::vector<uint32_t> classes(letters.begin(), letters.end());
  std::vector<uint32_t> counts(letters.size(), 1);
  for (size_t i = 0; i < living.size(); ++i) counts[i] = static_cast<uint32_t>(living[i] - '0');
  return choose_repeats(classes, counts);
}

TEST(ChooseRepeats, all_occurrences_of_a_part) {
  const std::vector<match::Repeat> found = chosen("xabcdabcdabcdyzabcdw");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].length, 4u);
  EXPECT_EQ(found[0].starts, (std::vector<size_t>{1, 5, 9, 15}));
}

TEST(ChooseRepeats, parts_are_cut_where_least_passes) {
  //                                              0123456789012345
  const std::vector<match::Repeat> found = chosen("abcdabcdabcdabcd", "2122212221222122");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].starts, (std::vector<size_t>{2, 6, 10}));
}

TEST(ChooseRepeats, short_parts_occur_three_times_long_ones_twice) {
  EXPECT_TRUE(chosen("abcdabcd.").empty());
  EXPECT_TRUE(chosen("abcd.abcd.abcd,abcd").empty()) << "short parts that do not follow each other";
  EXPECT_EQ(chosen("abcdefghabcdefgh.").size(), 1u);
  EXPECT_TRUE(chosen("abcdefghijklmnop").empty());
  EXPECT_TRUE(chosen("").empty());
}

TEST(ChooseRepeats, none_overlap) {
  const std::string text = "aabbaabbaabbccddccddccddaabbccddaaaaaaaaaaaaaaaaaaaa";
  std::vector<int> count(text.size(), 0);
  for (const match::Repeat& repeat : chosen(text)) {
    for (const size_t start : repeat.starts) {
      for (size_t i = 0; i < repeat.length; ++i) EXPECT_EQ(count[start + i]++, 0);
    }
  }
}

}  // namespace
}  // namespace assay::scene
