#include "base/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

// The text of an array that holds only `content`.
template <typename T>
std::string written(T content) {
  JsonWriter json;
  json.begin_array();
  json.value(content);
  json.end_array();
  return json.text();
}

TEST(Json, indents_objects_and_keeps_arrays_on_one_line) {
  JsonWriter json;
  json.begin_object();
  json.field("name", "conv");
  json.field("ok", true);
  json.key("dims");
  json.begin_array();
  json.value(1);
  json.value(int64_t{-2});
  json.null();
  json.end_array();
  json.key("inner");
  json.begin_object();
  json.end_object();
  json.end_object();
  EXPECT_EQ(json.text(), "{\n  \"name\": \"conv\",\n  \"ok\": true,\n  \"dims\": [1, -2, null],\n  \"inner\": {}\n}\n");
}

TEST(Json, writes_integers_exactly) {
  EXPECT_EQ(written(std::numeric_limits<int64_t>::min()), "[-9223372036854775808]\n");
  EXPECT_EQ(written(std::numeric_limits<uint64_t>::max()), "[18446744073709551615]\n");
}

TEST(Json, writes_the_shortest_text_of_a_double) {
  EXPECT_EQ(written(0.1), "[0.1]\n");
  EXPECT_EQ(written(1.0), "[1.0]\n");
  EXPECT_EQ(written(-0.0), "[-0.0]\n");
  EXPECT_EQ(written(5e-324), "[5e-324]\n");
  EXPECT_EQ(written(1.7976931348623157e308), "[1.7976931348623157e+308]\n");
  EXPECT_EQ(written(9007199254740993.0), "[9007199254740992.0]\n");
}

TEST(Json, writes_numbers_that_json_cannot_hold_as_strings) {
  EXPECT_EQ(written(std::nan("")), "[\"nan\"]\n");
  EXPECT_EQ(written(-std::nan("")), "[\"nan\"]\n");
  EXPECT_EQ(written(HUGE_VAL), "[\"inf\"]\n");
  EXPECT_EQ(written(-HUGE_VAL), "[\"-inf\"]\n");
}

TEST(Json, escapes_text) {
  EXPECT_EQ(written("a\"b\\c\nd\x01"), "[\"a\\\"b\\\\c\\nd\\u0001\"]\n");
  EXPECT_EQ(written("h\xc3\xa9"), "[\"h\xc3\xa9\"]\n");
  EXPECT_EQ(written("\x7f\xc2\x9b\"\xc2\xa0"), "[\"\\u007f\\u009b\\\"\xc2\xa0\"]\n");
}

TEST(Json, writes_bytes_that_are_not_utf8_as_hex) {
  EXPECT_EQ(written("a\xff\xc3\xa9\nz"), "[\"a\\\\xff\xc3\xa9\\nz\"]\n");
  EXPECT_EQ(written("\xe2\x82"), "[\"\\\\xe2\\\\x82\"]\n");
  JsonWriter json;
  json.begin_object();
  json.field("k\xff", 1);
  json.end_object();
  EXPECT_EQ(json.text(), "{\n  \"k\\\\xff\": 1\n}\n");
}

}  // namespace
}  // namespace assay
