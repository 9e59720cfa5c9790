#include "cli/options/values.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::cli {
namespace {

template <typename Fn>
std::string error_of(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

TEST(Values, the_last_colon_splits) {
  EXPECT_EQ(split_key_value("a:b:1").key, "a:b");
  EXPECT_EQ(split_key_value("a:b:1").value, "1");
  EXPECT_EQ(split_key_value("1").key, "");
  EXPECT_EQ(split_key_value("1").value, "1");
  EXPECT_EQ(split_key_value(":").value, "");
}

TEST(Values, integers_are_read_whole) {
  EXPECT_EQ(parse_integer("-n", "-12"), -12);
  EXPECT_EQ(parse_integer("-n", "+12"), 12);
  EXPECT_EQ(parse_integer("-n", "9223372036854775807"), INT64_MAX);
  EXPECT_EQ(error_of([] { parse_integer("-n", "9223372036854775808"); }),
            "option `-n`: `9223372036854775808` does not fit into 64 bits");
  for (const char* text : {"", "x", "1.5", "1 ", " 1", "+", "-", "+-1", "0x10"}) {
    EXPECT_EQ(error_of([&] { parse_integer("-n", text); }),
              std::string("option `-n`: expected an integer, found `") + text + "`");
  }
}

TEST(Values, numbers_are_read_as_in_python) {
  EXPECT_EQ(parse_number("-n", "1e-5"), 1e-5);
  EXPECT_EQ(parse_number("-n", "-.5"), -0.5);
  EXPECT_EQ(parse_number("-n", "+2."), 2);
  EXPECT_TRUE(std::isinf(parse_number("-n", "inf")));
  EXPECT_TRUE(std::isnan(parse_number("-n", "nan")));
  for (const char* text : {"", "x", "1e", "1,5", "1f", "--1"}) {
    EXPECT_EQ(error_of([&] { parse_number("-n", text); }),
              std::string("option `-n`: expected a number, found `") + text + "`");
  }
  EXPECT_EQ(error_of([] { parse_number("-n", "1e999"); }), "option `-n`: `1e999` is beyond the range of a float64");
}

}  // namespace
}  // namespace assay::cli
