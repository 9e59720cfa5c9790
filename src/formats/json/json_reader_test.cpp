#include "formats/json/json_reader.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::formats {
namespace {

std::string error_of(std::string_view text) {
  try {
    JsonReader reader(text);
    reader.skip();
    reader.finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.line();
  }
  return {};
}

std::string string_of(std::string_view text) { return JsonReader(text).string().text(); }
double number_of(std::string_view text) { return JsonReader(text).number(); }

TEST(JsonReader, walks_objects_and_lists) {
  JsonReader reader(R"( {"a": [1, -2e1, null], "b\u00e9": {"c": true}} )");
  std::string key;
  reader.begin_object();
  ASSERT_TRUE(reader.next_key(key));
  EXPECT_EQ(key, "a");
  reader.begin_array();
  ASSERT_TRUE(reader.next_item());
  EXPECT_EQ(reader.integer(), 1);
  ASSERT_TRUE(reader.next_item());
  EXPECT_EQ(reader.number(), -20);
  ASSERT_TRUE(reader.next_item());
  EXPECT_EQ(reader.peek(), JsonReader::Kind::null);
  reader.null();
  EXPECT_FALSE(reader.next_item());
  ASSERT_TRUE(reader.next_key(key));
  EXPECT_EQ(key, "b\xc3\xa9");
  reader.skip();
  EXPECT_FALSE(reader.next_key(key));
  reader.finish();
}

TEST(JsonReader, strings) {
  EXPECT_EQ(string_of(R"("a\"b\\")"), "a\"b\\");
  EXPECT_EQ(string_of(R"("\\\"")"), "\\\"");
  EXPECT_EQ(string_of(R"("\/\b\f\n\r\t")"), "/\b\f\n\r\t");
  EXPECT_EQ(string_of(R"("\u20AC\ud83d\ude00")"), "\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(string_of("\"\xe2\x82\xac\""), "\xe2\x82\xac");
}

TEST(JsonReader, wrong_strings) {
  for (const char* text : {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud800")", R"("\ud800\u0041")", "\"\n\"",
                           "\"\xff\"", R"("abc)", R"("abc\")", R"("\")"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

TEST(JsonReader, numbers_as_python_writes_them) {
  EXPECT_TRUE(std::isnan(number_of("NaN")));
  EXPECT_EQ(number_of("-Infinity"), -INFINITY);
  EXPECT_EQ(number_of("Infinity"), INFINITY);
  EXPECT_EQ(number_of("1e-07"), 1e-07);
  EXPECT_EQ(number_of("0.1"), 0.1);
  for (const char* text : {"01", "1.", ".5", "1e", "+1", "-", "nan", "0x1", "1_0"})
    EXPECT_NE(error_of(text), "") << text;
  EXPECT_THROW(JsonReader("1.0").integer(), Error);
  EXPECT_THROW(JsonReader("9223372036854775808").integer(), Error);
}

TEST(JsonReader, wrong_structure) {
  for (const char* text : {"", " ", "{", "[", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{1:2}",
                           "[1}", "1 1", "tru", "nul", "[1", "{\"a\":1", "]", "[1]]"}) {
    const std::string line = error_of(text);
    EXPECT_NE(line, "") << text;
    EXPECT_NE(line.find("JSON"), std::string::npos) << line;
  }
}

TEST(JsonReader, depth_is_limited) {
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_NE(error_of(std::string(65, '[') + std::string(65, ']')).find("nested deeper"), std::string::npos);
  EXPECT_NE(error_of(std::string(1'000'000, '[')).find("nested deeper"), std::string::npos);
}

}  // namespace
}  // namespace assay::formats
