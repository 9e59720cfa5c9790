#include "base/checksum.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Checksum, EveryBitAndEveryLengthCounts) {
  std::vector<std::byte> bytes(600);
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

TEST(Checksum, TheProcessorComputesWhatPortableCodeDoes) {
  std::vector<std::byte> bytes(20'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i + 11);
  for (const size_t size : {0, 1, 8, 255, 256, 257, 512, 777, 20'000}) {
    Checksum portable(true);
    portable.add(Bytes(bytes).first(size));
    EXPECT_EQ(checksum(Bytes(bytes).first(size)), portable.value()) << size;
  }
}

TEST(Checksum, PiecesCountAsTheWhole) {
  std::vector<std::byte> bytes(1200);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 29 + 3);
  for (const size_t step : {1, 7, 255, 256, 257, 530}) {
    Checksum sum;
    for (size_t at = 0; at < bytes.size(); at += step)
      sum.add(Bytes(bytes).subspan(at, std::min(step, bytes.size() - at)));
    EXPECT_EQ(sum.value(), checksum(bytes)) << step;
  }
}

TEST(Checksum, NoTwoBitsCancel) {
  constexpr size_t kBits = 64;
  std::vector<uint64_t> words(Checksum::kLanes + 2);  // neighbours of one sum, and of several
  const auto sum = [&] { return checksum(std::as_bytes(std::span(words))); };
  const uint64_t clean = sum();
  const auto flip = [&](size_t bit) { words[bit / kBits] ^= uint64_t{1} << bit % kBits; };
  std::vector<size_t> bits;
  for (const size_t word : {size_t{0}, size_t{1}, size_t{2}, Checksum::kLanes, Checksum::kLanes + 1}) {
    for (size_t bit = 0; bit < kBits; ++bit) bits.push_back(word * kBits + bit);
  }
  for (const size_t first : bits) {
    flip(first);
    for (const size_t second : bits) {
      if (second == first) continue;
      flip(second);
      EXPECT_NE(sum(), clean) << first << " " << second;
      flip(second);
    }
    flip(first);
  }
}

TEST(Checksum, ZerosBehindTheEndCount) {
  const std::vector<std::byte> zeros(530);
  std::set<uint64_t> seen;
  for (size_t size = 0; size <= zeros.size(); ++size) seen.insert(checksum(Bytes(zeros).first(size)));
  EXPECT_EQ(seen.size(), zeros.size() + 1);
}

}  // namespace
}  // namespace assay
