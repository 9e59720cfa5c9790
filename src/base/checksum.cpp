#include "base/checksum.h"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

constexpr size_t kLanes = Checksum::kLanes;
constexpr size_t kBlock = Checksum::kBlock;
using Lanes = Checksum::Lanes;
using AddBlocks = void (*)(Lanes& lanes, const std::byte* blocks, size_t count);

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
constexpr int kHalf = 32;

// Another one for each word, and for each sum before. Two bits of words never cancel each other.
uint64_t mix(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * kFactor;
  return sum ^ sum >> kHalf;
}

constexpr size_t kAtOnce = 8;  // sums that stay in registers

void add_to_some(uint64_t* lanes, const std::byte* words, size_t count) {
  std::array<uint64_t, kAtOnce> sums{};
  std::copy_n(lanes, kAtOnce, sums.begin());
  for (; count > 0; --count, words += kBlock) {
    std::array<uint64_t, kAtOnce> some{};
    std::memcpy(some.data(), words, sizeof(some));
    for (size_t i = 0; i < kAtOnce; ++i) sums[i] = mix(sums[i], some[i]);
  }
  std::ranges::copy(sums, lanes);
}

void add_portably(Lanes& lanes, const std::byte* blocks, size_t count) {
  constexpr size_t kMost = 64;  // blocks that the first cache holds
  while (count > 0) {
    const size_t some = std::min(count, kMost);
    for (size_t i = 0; i < kLanes; i += kAtOnce) add_to_some(lanes.data() + i, blocks + i * sizeof(uint64_t), some);
    blocks += some * kBlock;
    count -= some;
  }
}

#if defined(__x86_64__)

using Vector [[gnu::vector_size(64)]] = uint64_t;

[[gnu::target("avx512f,avx512dq")]] void add_by_vectors(Lanes& lanes, const std::byte* blocks, size_t count) {
  constexpr size_t kVectors = kBlock / sizeof(Vector);
  Vector sums[kVectors];  // NOLINT(modernize-avoid-c-arrays): templates drop the attributes of vectors
  std::memcpy(sums, lanes.data(), kBlock);
  for (; count > 0; --count, blocks += kBlock) {
    Vector words[kVectors];  // NOLINT(modernize-avoid-c-arrays)
    std::memcpy(words, blocks, kBlock);
#pragma GCC unroll 4
    for (size_t i = 0; i < kVectors; ++i) {
      sums[i] = (sums[i] ^ words[i]) * kFactor;
      sums[i] ^= sums[i] >> kHalf;
    }
  }
  std::memcpy(lanes.data(), sums, kBlock);
}

AddBlocks best() {
  const bool has_vectors = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  return has_vectors ? add_by_vectors : add_portably;
}

#else

AddBlocks best() { return add_portably; }

#endif

}  // namespace

Checksum::Checksum(bool is_portable) : add_blocks_(is_portable ? add_portably : best()) {
  for (size_t i = 0; i < kLanes; ++i) lanes_[i] = i + 1;  // the place of a word counts
}

void Checksum::add(Bytes piece) {
  const size_t begun = size_ % kBlock;
  size_ += piece.size();
  if (begun > 0) {
    const Bytes first = piece.first(std::min(piece.size(), kBlock - begun));
    std::ranges::copy(first, rest_.begin() + static_cast<ptrdiff_t>(begun));
    if (begun + first.size() < kBlock) return;
    add_blocks_(lanes_, rest_.data(), 1);
    piece = piece.subspan(first.size());
  }
  const size_t whole = piece.size() / kBlock;
  add_blocks_(lanes_, piece.data(), whole);
  std::ranges::copy(piece.subspan(whole * kBlock), rest_.begin());
}

uint64_t Checksum::value() const {
  std::array<std::byte, kBlock> last{};
  std::ranges::copy(Bytes(rest_).first(size_ % kBlock), last.begin());
  Lanes lanes = lanes_;
  add_blocks_(lanes, last.data(), 1);
  uint64_t sum = size_;
  for (const uint64_t lane : lanes) sum = mix(sum, lane);
  return sum;
}

uint64_t checksum(Bytes bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

}  // namespace assay
