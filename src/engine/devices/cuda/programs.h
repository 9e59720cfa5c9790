#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/devices/cuda/driver/card.h"
#include "engine/devices/cuda/nvrtc/compiler.h"
#include "engine/devices/cuda/nvrtc/cubin_cache.h"

namespace assay::engine::cuda {

// Kernels of one card by their texts, each compiled and loaded once while somebody holds it. May be used from several
// threads.
class Programs {
 public:
  Programs(std::shared_ptr<const Card> card, const Compiler& compiler, CubinCache cache)
      : card_(std::move(card)), compiler_(compiler), cache_(std::move(cache)) {}

  const Card& card() const { return *card_; }
  const Compiler& compiler() const { return compiler_; }
  // The kernel of a text, to which the machine's text is put in front.
  std::shared_ptr<const Program> get(const std::string& text);
  // A table in the card's memory.
  Buffer upload(std::span<const std::byte> bytes) const;

 private:
  std::shared_ptr<const Card> card_;
  const Compiler& compiler_;
  CubinCache cache_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;
};

}  // namespace assay::engine::cuda
