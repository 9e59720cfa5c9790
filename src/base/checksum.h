#pragma once

#include <array>
#include <cstdint>

#include "base/files.h"

namespace assay {

// Finds damage, not forgery: 32 sums of 64 bits, each of every 32nd word, mixed. Where one word alone is another, so is
// the value for certain. Runs at the speed of memory.
class Checksum {
 public:
  // Portable: without the processor's help.
  explicit Checksum(bool is_portable = false);
  // Bytes come in pieces of any size.
  void add(Bytes piece);
  uint64_t value() const;

  static constexpr size_t kLanes = 32;
  static constexpr size_t kBlock = kLanes * sizeof(uint64_t);
  using Lanes = std::array<uint64_t, kLanes>;  // sums that do not wait for each other

 private:
  void (*add_blocks_)(Lanes& lanes, const std::byte* blocks, size_t count);
  Lanes lanes_;
  std::array<std::byte, kBlock> rest_ = {};  // the beginning of a block
  uint64_t size_ = 0;
};

uint64_t checksum(Bytes bytes);

}  // namespace assay
