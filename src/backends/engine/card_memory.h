#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "engine/device/buffer.h"

namespace assay::engine::cuda {
class Card;
}

namespace assay::backends {

// Memory, streams and events of one card by the handles of its driver, for callers that have no other way to them. May
// be used from several threads. Errors (limit, backend) are those of the driver.
class CardMemory {
 public:
  // That of the card that $ASSAY_DEVICE names; null: none is named. Error (unsupported) that says what is missing.
  static std::unique_ptr<CardMemory> find();
  explicit CardMemory(std::shared_ptr<const engine::cuda::Card> card);

  uint64_t allocate(uint64_t bytes);
  // False: allocate() did not give it.
  bool free(uint64_t address);
  // True if so many bytes from there are memory of a card, whoever allocated it.
  bool holds(uint64_t address, uint64_t bytes) const;
  // Between any memory of cards and of the host, after what the stream has to do; it is done when the call returns.
  void copy(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream) const;
  void set(uint64_t address, int value, uint64_t bytes, uint64_t stream) const;

  uint64_t make_stream() const;
  void end_stream(uint64_t stream) const;
  void wait_for_stream(uint64_t stream) const;
  void wait_for_all() const;
  uint64_t make_event() const;
  void end_event(uint64_t event) const;
  void record(uint64_t event, uint64_t stream) const;
  void wait_for_event(uint64_t event) const;
  // Work that is added to the stream from now on comes after the event.
  void make_wait(uint64_t stream, uint64_t event) const;
  double milliseconds(uint64_t from, uint64_t until) const;

  const engine::cuda::Card& card() const { return *card_; }

 private:
  std::shared_ptr<const engine::cuda::Card> card_;
  std::mutex mutex_;
  std::map<uint64_t, engine::Buffer> held_;
};

}  // namespace assay::backends
