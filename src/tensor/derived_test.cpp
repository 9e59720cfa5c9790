#include "tensor/derived.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace assay::tensor {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

TEST(Derived, BytesAreMadeAgainAfterTheirRelease) {
  int made = 0;
  const auto fill = [&](std::span<std::byte> bytes) {
    ++made;
    std::ranges::copy(bytes_of("abc"), bytes.begin());
  };
  const StoragePtr storage = make_derived(3, fill);
  EXPECT_EQ(storage->size_bytes(), 3U);
  std::string streamed;
  storage->stream([&](Bytes piece) { streamed += text_of(piece); });
  EXPECT_EQ(streamed, "abc");
  EXPECT_EQ(made, 1) << "what is streamed is not kept";
  EXPECT_EQ(storage->bytes().data(), storage->bytes().data());
  EXPECT_EQ(made, 2);
  storage->release();
  EXPECT_EQ(text_of(storage->bytes()), "abc");
  EXPECT_EQ(made, 2) << "who says so has to own it";
  let_go_of(*storage);
  EXPECT_EQ(text_of(storage->bytes()), "abc");
  EXPECT_EQ(made, 3);
  let_go_of(*storage);
  make_now(*storage);
  for (int i = 0; i < 2; ++i) storage->stream([&](Bytes piece) { streamed += text_of(piece); });
  EXPECT_EQ(streamed, "abcabcabc");
  EXPECT_EQ(made, 4);
}

TEST(Derived, IdentityIsThatOfTheBytesUnlessTheyAreMade) {
  const std::shared_ptr<const MappedFile> file = MappedFile::from_bytes(bytes_of("0123456789"), "data.bin");
  EXPECT_EQ(identity_of(*make_mapped(file, 2, 3)), identity_of(*make_mapped(file, 2, 4)));
  EXPECT_NE(identity_of(*make_mapped(file, 2, 3)), identity_of(*make_mapped(file, 3, 3)));
  const auto never = [](std::span<std::byte>) { ADD_FAILURE(); };
  const StoragePtr one = make_derived(3, never);
  const StoragePtr two = make_derived(3, never);
  EXPECT_EQ(identity_of(*one), identity_of(*one));
  EXPECT_NE(identity_of(*one), identity_of(*two));
}

}  // namespace
}  // namespace assay::tensor
