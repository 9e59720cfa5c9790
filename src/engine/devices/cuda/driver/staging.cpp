#include "engine/devices/cuda/driver/staging.h"

namespace assay::engine::cuda {
namespace {

constexpr size_t kMostBytes = size_t{128} << 10;  // the driver divides larger copies, and makes them piece by piece
constexpr size_t kMostBlocks = 8;
constexpr size_t kAlignment = 64;

}  // namespace

Staging::~Staging() {
  for (const Card::HostBlock& block : blocks_) card_->give_back(block);
}

std::byte* Staging::take(const void* place, size_t bytes) {
  const size_t needed = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (needed > kMostBytes || !is_pageable(place) || !has_room(needed)) return nullptr;
  std::byte* const taken = blocks_[block_].first + used_;
  used_ += needed;
  return taken;
}

// The driver knows all memory that a card reaches.
bool Staging::is_pageable(const void* place) const {
  unsigned kind = 0;
  return card_->api().pointer_fact(&kind, kKindOfMemory, reinterpret_cast<DevicePointer>(place)) != kSuccess;
}

bool Staging::has_room(size_t bytes) {
  if (block_ < blocks_.size() && blocks_[block_].bytes - used_ < bytes) {
    ++block_;
    used_ = 0;
  }
  if (block_ < blocks_.size()) return true;
  if (blocks_.size() == kMostBlocks) return false;
  const Card::HostBlock block = card_->take_host_block();
  if (block.first == nullptr) return false;
  blocks_.push_back(block);
  return true;
}

}  // namespace assay::engine::cuda
