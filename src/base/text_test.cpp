#include "base/text.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Words = std::vector<std::string>;

TEST(Text, printable_keeps_one_line_of_utf8) {
  EXPECT_EQ(printable("plain"), "plain");
  EXPECT_EQ(printable("模型 é"), "模型 é");
  EXPECT_EQ(printable("a\nb"), "a b");
  EXPECT_EQ(printable("a\tb\x1b[0m\x7f"), "a\\x09b\\x1b[0m\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Text, printable_escapes_control_characters_beyond_ascii) {
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(Text, is_utf8_refuses_what_the_standard_refuses) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe6\xa8\xa1\xf0\x9f\x99\x82"));
  EXPECT_FALSE(is_utf8("\x80"));              // continuation alone
  EXPECT_FALSE(is_utf8("\xc3"));              // cut short
  EXPECT_FALSE(is_utf8("\xc0\xaf"));          // overlong, 2 bytes
  EXPECT_FALSE(is_utf8("\xe0\x80\xaf"));      // overlong, 3 bytes
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
}

TEST(Text, to_lower_is_ascii_only) { EXPECT_EQ(to_lower("AbZ-É9"), "abz-É9"); }

TEST(Text, split_keeps_empty_parts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Text, join_puts_the_separator_between) {
  EXPECT_EQ(join(Words{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(Words{}, ", "), "");
}

TEST(Text, indent_continuation_shifts_all_but_the_first_line) {
  EXPECT_EQ(indent_continuation("a\nb\n", 2), "a\n  b\n  ");
}

TEST(Text, edit_distance_counts_swaps_as_one) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("modle", "model"), 1u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Text, did_you_mean_finds_only_what_is_near) {
  const Words words = {"model", "data", "tactics", "diff"};
  EXPECT_EQ(did_you_mean("modle", words), "model");
  EXPECT_EQ(did_you_mean("tactic", words), "tactics");
  EXPECT_EQ(did_you_mean("surgeon", words), std::nullopt);
  EXPECT_EQ(did_you_mean("model", Words{}), std::nullopt);
}

// Each row was checked with Python's fnmatch.fnmatchcase.
TEST(Text, globs_match_as_in_a_shell) {
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("a*c", "abbbc"));
  EXPECT_TRUE(matches_glob("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches_glob("a*b*c", "aXcYb"));
  EXPECT_TRUE(matches_glob("?x?", "axb"));
  EXPECT_FALSE(matches_glob("?", ""));
  EXPECT_TRUE(matches_glob("[abc]d", "bd"));
  EXPECT_TRUE(matches_glob("[a-c]d", "bd"));
  EXPECT_FALSE(matches_glob("[!a-c]d", "bd"));
  EXPECT_TRUE(matches_glob("[!a-c]d", "xd"));
  EXPECT_TRUE(matches_glob("[]]", "]"));
  EXPECT_TRUE(matches_glob("[!]]", "a"));
  EXPECT_TRUE(matches_glob("[", "["));
  EXPECT_TRUE(matches_glob("[ab", "[ab"));
  EXPECT_TRUE(matches_glob("*[0-9]", "conv12"));
  EXPECT_FALSE(matches_glob("conv", "conv1"));
  EXPECT_FALSE(matches_glob("", "a"));
  EXPECT_TRUE(matches_glob("", ""));
}

// Each row was checked with Python's repr.
TEST(Text, floats_read_as_in_python) {
  EXPECT_EQ(python_float(1), "1.0");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(0.1), "0.1");
  EXPECT_EQ(python_float(1e15), "1000000000000000.0");
  EXPECT_EQ(python_float(1e16), "1e+16");
  EXPECT_EQ(python_float(0.0001), "0.0001");
  EXPECT_EQ(python_float(0.00001), "1e-05");
  EXPECT_EQ(python_float(1.5e300), "1.5e+300");
  EXPECT_EQ(python_float(123456789.125), "123456789.125");
  EXPECT_EQ(python_float(5e-324), "5e-324");
  EXPECT_EQ(python_float(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(python_float(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(python_float(std::nan("")), "nan");
}

TEST(Text, strings_read_as_in_python) {
  EXPECT_EQ(python_string("abc"), "'abc'");
  EXPECT_EQ(python_string("it's"), "\"it's\"");
  EXPECT_EQ(python_string("it's \"x\""), "'it\\'s \"x\"'");
  EXPECT_EQ(python_string("a\\b\n\t\r"), "'a\\\\b\\n\\t\\r'");
  EXPECT_EQ(python_string("\x07"), "'\\x07'");
  EXPECT_EQ(python_string("é"), "'é'");
}

TEST(Text, bytes_have_three_digits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.00 kB");
  EXPECT_EQ(human_bytes(9996), "10.0 kB");
  EXPECT_EQ(human_bytes(99960), "100 kB");
  EXPECT_EQ(human_bytes(434'000'000), "434 MB");
  EXPECT_EQ(human_bytes(999'600), "1.00 MB");
  EXPECT_EQ(human_bytes(std::numeric_limits<uint64_t>::max()), "18.4 EB");
}

}  // namespace
}  // namespace assay
