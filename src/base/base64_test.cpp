#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"

namespace assay {
namespace {

std::string encode(std::string_view text) { return base64_encode(std::as_bytes(std::span(text))); }

std::string decode(std::string_view text) {
  std::string bytes(base64_decoded_size(text), '\0');
  base64_decode(text, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string random_bytes(size_t count) {
  std::string bytes;
  uint32_t state = 7;
  while (bytes.size() < count) bytes.push_back(static_cast<char>((state = state * 1664525 + 1013904223) >> 24));
  return bytes;
}

TEST(Base64, known_texts) {
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode("\xff\xef\xbe"), "/+++");
}

TEST(Base64, what_is_encoded_comes_back) {
  for (const size_t count : {0, 1, 2, 3, 4, 5, 200, 300'001, 300'002, 300'003}) {
    const std::string bytes = random_bytes(count);
    EXPECT_EQ(decode(encode(bytes)), bytes) << count;
  }
}

TEST(Base64, the_number_of_threads_changes_nothing) {
  const std::string bytes = random_bytes(1'000'000);
  const unsigned threads = thread_count();
  set_thread_count(1);
  const std::string text = encode(bytes);
  set_thread_count(4);
  EXPECT_EQ(encode(bytes), text);
  EXPECT_EQ(decode(text), bytes);
  set_thread_count(threads);
}

TEST(Base64, start_alone) {
  const std::string text = encode("The quick brown fox");
  for (size_t count = 0; count <= 19; ++count) {
    EXPECT_EQ(base64_decode_start(text, count), std::string("The quick brown fox").substr(0, count));
  }
  EXPECT_EQ(base64_decode_start(text, 1000), "The quick brown fox");
}

TEST(Base64, damage) {
  EXPECT_THROW(decode("Zg="), Error);
  EXPECT_THROW(decode("Z==="), Error);
  EXPECT_THROW(decode("===="), Error);
  EXPECT_THROW(decode("Zm9v Zm9"), Error);
  EXPECT_THROW(decode("Zg==Zm9v"), Error);
  std::string text = encode(random_bytes(3000));
  for (size_t at = 0; at < text.size(); at += 37) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(0x80 + at % 128);
    EXPECT_THROW(decode(damaged), Error) << at;
  }
}

}  // namespace
}  // namespace assay
