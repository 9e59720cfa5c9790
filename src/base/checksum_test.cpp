#include "base/checksum.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Checksum, EveryBitAndEveryLengthCounts) {
  std::vector<std::byte> bytes(200);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  std::set<uint64_t> seen;
  for (size_t size = 0; size <= bytes.size(); ++size) seen.insert(checksum(Bytes(bytes).first(size)));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    seen.insert(checksum(bytes));
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  EXPECT_EQ(seen.size(), bytes.size() + 1 + bytes.size() * 8);
}

TEST(Checksum, TheProcessorComputesWhatTheTableDoes) {
  std::vector<std::byte> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i + 11);
  for (const size_t size : {0, 1, 8, 63, 64, 65, 128, 777, 1000}) {
    Checksum portable(true);
    portable.add(Bytes(bytes).first(size));
    EXPECT_EQ(checksum(Bytes(bytes).first(size)), portable.value()) << size;
  }
}

TEST(Checksum, PiecesCountAsTheWhole) {
  std::vector<std::byte> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 29 + 3);
  for (const size_t step : {1, 7, 63, 64, 65, 130}) {
    Checksum sum;
    for (size_t at = 0; at < bytes.size(); at += step)
      sum.add(Bytes(bytes).subspan(at, std::min(step, bytes.size() - at)));
    EXPECT_EQ(sum.value(), checksum(bytes)) << step;
  }
}

TEST(Checksum, ZerosBehindTheEndCount) {
  const std::vector<std::byte> zeros(130);
  std::set<uint64_t> seen;
  for (size_t size = 0; size <= zeros.size(); ++size) seen.insert(checksum(Bytes(zeros).first(size)));
  EXPECT_EQ(seen.size(), zeros.size() + 1);
}

}  // namespace
}  // namespace assay
