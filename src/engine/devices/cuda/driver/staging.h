#pragma once

#include <vector>

#include "engine/devices/cuda/driver/card.h"

namespace assay::engine::cuda {

// Memory of the host that small copies to and from a card go through, since the driver takes longer for memory that
// may be swapped.
class Staging {
 public:
  explicit Staging(std::shared_ptr<const Card> card) : card_(std::move(card)) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Memory for a copy from or to this place, until release(). Null: the copy is to be made without.
  std::byte* take(const void* place, size_t bytes);
  // Everything that was taken may be taken again.
  void release() { block_ = used_ = 0; }

 private:
  bool is_pageable(const void* place) const;
  bool has_room(size_t bytes);

  std::shared_ptr<const Card> card_;
  std::vector<Card::HostBlock> blocks_;
  size_t block_ = 0, used_ = 0;  // the block that is taken from, and its bytes that are taken
};

}  // namespace assay::engine::cuda
