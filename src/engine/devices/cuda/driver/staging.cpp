#include "engine/devices/cuda/driver/staging.h"

#include <algorithm>

namespace assay::engine::cuda {
namespace {

constexpr size_t kLeastBlock = size_t{1} << 20;
constexpr size_t kMostBytes = size_t{64} << 20;  // of all blocks: the driver divides large copies itself
constexpr size_t kAlignment = 64;

}  // namespace

Staging::~Staging() {
  if (blocks_.empty()) return;
  card_->api().context_set(card_->context());
  for (const Block& block : blocks_) card_->api().free_host(block.first);
}

std::byte* Staging::take(const void* place, size_t bytes) {
  const size_t needed = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (needed > kMostBytes || !is_pageable(place)) return nullptr;
  while (block_ < blocks_.size() && blocks_[block_].bytes - used_ < needed) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size() && !add_block(needed)) return nullptr;
  std::byte* const taken = blocks_[block_].first + used_;
  used_ += needed;
  return taken;
}

// The driver knows all memory that a card reaches.
bool Staging::is_pageable(const void* place) const {
  unsigned kind = 0;
  return card_->api().pointer_fact(&kind, kKindOfMemory, reinterpret_cast<DevicePointer>(place)) != kSuccess;
}

bool Staging::add_block(size_t bytes) {
  const size_t wanted = std::max({bytes, kLeastBlock, all_bytes_});
  if (all_bytes_ + wanted > kMostBytes) return false;
  void* first = nullptr;
  const Result result = card_->api().allocate_host(&first, wanted, kSharedHostMemory);
  if (result == kOutOfMemory) return false;
  card_->driver().check(result, "memory of the host");
  blocks_.push_back({static_cast<std::byte*>(first), wanted});
  all_bytes_ += wanted;
  return true;
}

}  // namespace assay::engine::cuda
