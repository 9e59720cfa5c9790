#include "base/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace assay {
namespace {

constexpr size_t kLanes = Checksum::kLanes;
constexpr size_t kBlock = Checksum::kBlock;
using Lanes = Checksum::Lanes;
using AddBlocks = void (*)(Lanes& lanes, const std::byte* blocks, size_t count);

constexpr std::array<uint32_t, 256> make_table() {
  constexpr uint32_t kPolynomial = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] >> 1) ^ ((table[i] & 1) * kPolynomial);
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

uint64_t add_word(uint64_t crc, uint64_t word) {
  word ^= crc;
  uint32_t sum = 0;
  for (size_t byte = 0; byte < sizeof(word); ++byte) sum = (sum >> 8) ^ kTable[(sum ^ (word >> 8 * byte)) & 0xff];
  return sum;
}

void add_portably(Lanes& lanes, const std::byte* blocks, size_t count) {
  for (; count > 0; --count, blocks += kBlock) {
    Lanes words;
    std::memcpy(words.data(), blocks, kBlock);
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = add_word(lanes[i], words[i]);
  }
}

#if defined(__x86_64__)

[[gnu::target("sse4.2")]] void add_by_hardware(Lanes& lanes, const std::byte* blocks, size_t count) {
  Lanes sums = lanes;
  for (; count > 0; --count, blocks += kBlock) {
    Lanes words;
    std::memcpy(words.data(), blocks, kBlock);
    for (size_t i = 0; i < kLanes; ++i) sums[i] = __builtin_ia32_crc32di(sums[i], words[i]);
  }
  lanes = sums;
}

AddBlocks best() { return __builtin_cpu_supports("sse4.2") != 0 ? add_by_hardware : add_portably; }

#else

AddBlocks best() { return add_portably; }

#endif

uint64_t mix(uint64_t sum, uint64_t word) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  return std::rotl(sum ^ word, 29) * kFactor;
}

}  // namespace

Checksum::Checksum(bool is_portable) : add_blocks_(is_portable ? add_portably : best()) { lanes_.fill(0xffffffff); }

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
