#include "engine/devices/cuda/driver/gate.h"

#include <atomic>

namespace assay::engine::cuda {
namespace {

// The word that the card reads: how often the gate was opened.
std::atomic_ref<unsigned> opened_in(const Card::HostBlock& block) {
  return std::atomic_ref(*reinterpret_cast<unsigned*>(block.first));
}

}  // namespace

Gate::~Gate() {
  if (block_.first != nullptr) card_->give_back(block_);
}

// Without memory, or with a driver that refuses, work begins as soon as it is added.
void Gate::close(Stream stream) {
  if (block_.first == nullptr) {
    block_ = card_->take_host_block();
    if (block_.first == nullptr) return;
    opened_in(block_).store(closed_);
  }
  const auto place = reinterpret_cast<DevicePointer>(block_.first);
  if (card_->api().stream_wait_word(stream, place, closed_ + 1, kAtLeast) == kSuccess) ++closed_;
}

void Gate::open() {
  if (block_.first != nullptr) opened_in(block_).store(closed_);
}

}  // namespace assay::engine::cuda
