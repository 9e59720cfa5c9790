#pragma once

#include <memory>
#include <utility>

#include "engine/devices/cuda/driver/card.h"

namespace assay::engine::cuda {

// Holds a stream's work back until all of it was added: what the processor takes to add it is then not among the times
// between the stream's events.
class Gate {
 public:
  explicit Gate(std::shared_ptr<const Card> card) : card_(std::move(card)) {}
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Work that is added while one of these lives begins afterwards. In its life, nothing may wait for the stream.
  class Closed {
   public:
    Closed(Gate& gate, Stream stream) : gate_(&gate) { gate_->close(stream); }
    ~Closed() {
      if (gate_ != nullptr) gate_->open();
    }
    Closed(Closed&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Closed& operator=(Closed&&) = delete;

   private:
    Gate* gate_;
  };

 private:
  void close(Stream stream);
  void open();

  std::shared_ptr<const Card> card_;
  Card::HostBlock block_;
  unsigned closed_ = 0;  // times it was
};

}  // namespace assay::engine::cuda
