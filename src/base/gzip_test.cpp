#include "base/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace assay {
namespace {

void expect_same_again(const std::string& text, size_t most_bytes) {
  for (const int level : {1, 9}) {
    std::string packed = gzip(text, level);
    EXPECT_LT(packed.size(), most_bytes);
    std::string back(text.size(), '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(back.data());
    stream.avail_out = static_cast<uInt>(back.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    EXPECT_TRUE(back == text);
  }
}

TEST(Gzip, comes_back_the_same) { expect_same_again(std::string(100'000, 'x'), 1000); }

TEST(Gzip, what_does_not_get_smaller_comes_back_too) {
  std::string text;
  uint32_t number = 1;
  while (text.size() < 1'000'000) text += static_cast<char>((number = number * 1664525 + 1013904223) >> 24U);
  expect_same_again(text, text.size() + 1000);
}

// More than is packed at once, in pieces that end anywhere.
TEST(Gzip, pieces_of_a_long_text_are_packed_as_the_whole) {
  std::string text;
  for (uint32_t i = 0; text.size() < 20'000'000; ++i) text += std::to_string(i * 2654435761U % 1000) + ",";
  expect_same_again(text, text.size() / 2);
  GzipWriter writer(6);
  for (size_t begin = 0, size = 1; begin < text.size(); begin += size, size = size * 3 + 1) {
    writer.add(std::string_view(text).substr(begin, size));
  }
  EXPECT_TRUE(writer.finish() == gzip(text, 6));
}

TEST(Gzip, nothing_comes_back_as_nothing) { expect_same_again("", 30); }

}  // namespace
}  // namespace assay
