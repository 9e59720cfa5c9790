#include "formats/lazy_storage.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay::formats {
namespace {

class LazyStorage : public testing::Test {
 protected:
  tensor::StoragePtr storage_ = make_lazy(8, [this](std::span<std::byte> out) {
    ++made_;
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::byte(i);
  });
  int made_ = 0;
};

TEST_F(LazyStorage, is_made_once_and_again_when_it_was_released) {
  EXPECT_EQ(storage_->bytes()[3], std::byte(3));
  EXPECT_EQ(storage_->bytes()[7], std::byte(7));
  EXPECT_EQ(made_, 1);
  storage_->release();
  EXPECT_EQ(storage_->bytes()[3], std::byte(3));
  EXPECT_EQ(made_, 2);
}

TEST_F(LazyStorage, what_is_streamed_is_not_held) {
  const tensor::StoragePtr part = make_part(storage_, 2, 3);
  for (int i = 1; i <= 2; ++i) {
    std::vector<std::byte> seen;
    part->stream([&](tensor::Bytes piece) { seen.insert(seen.end(), piece.begin(), piece.end()); });
    EXPECT_EQ(seen, (std::vector{std::byte(2), std::byte(3), std::byte(4)}));
    EXPECT_EQ(made_, i);
  }
}

}  // namespace
}  // namespace assay::formats
