#include "base/sha256.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

std::string hex(const Digest& digest) {
  std::string digits;
  for (const uint8_t byte : digest) digits += fmt::format("{:02x}", byte);
  return digits;
}

std::string hex(std::string_view text) { return hex(sha256(text)); }

// The examples of FIPS 180-2, and sha256sum's of lengths around a block.
TEST(Sha256, known_digests) {
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(hex(std::string(119, 'a')), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
}

// Examples of RFC 4231: an ordinary key, and one that is longer than a block.
TEST(Sha256, keyed_digests) {
  EXPECT_EQ(hex(keyed_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(keyed_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace assay
