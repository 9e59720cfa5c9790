#include "base/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace assay {
namespace {

TEST(Gzip, comes_back_the_same) {
  const std::string text(100'000, 'x');
  for (const int level : {1, 9}) {
    std::string packed = gzip(text, level);
    EXPECT_LT(packed.size(), 1000u);
    std::string back(text.size(), '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(back.data());
    stream.avail_out = static_cast<uInt>(back.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    EXPECT_EQ(back, text);
  }
}

}  // namespace
}  // namespace assay
