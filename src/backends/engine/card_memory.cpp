#include "backends/engine/card_memory.h"

#include "backends/engine/cards.h"
#include "engine/devices/cuda/driver/card.h"

namespace assay::backends {
namespace {

using engine::cuda::Event;
using engine::cuda::Stream;

Stream stream_of(uint64_t handle) { return reinterpret_cast<Stream>(handle); }
Event event_of(uint64_t handle) { return reinterpret_cast<Event>(handle); }

// The functions of a card's driver, in the card's context.
class Calls {
 public:
  explicit Calls(const engine::cuda::Card& card) : card_(card) { card.enter(); }
  const engine::cuda::Api* operator->() const { return &card_.api(); }
  void check(engine::cuda::Result result, std::string_view what) const { card_.driver().check(result, what); }

 private:
  const engine::cuda::Card& card_;
};

}  // namespace

std::unique_ptr<CardMemory> CardMemory::find() {
  std::shared_ptr<const engine::cuda::Card> card = usual_card();
  return card == nullptr ? nullptr : std::make_unique<CardMemory>(std::move(card));
}

CardMemory::CardMemory(std::shared_ptr<const engine::cuda::Card> card) : card_(std::move(card)) {}

uint64_t CardMemory::allocate(uint64_t bytes) {
  engine::Buffer made = card_->allocate(bytes);
  const uint64_t address = made.first.value;
  const std::scoped_lock lock(mutex_);
  held_.emplace(address, std::move(made));
  return address;
}

bool CardMemory::free(uint64_t address) {
  const std::scoped_lock lock(mutex_);
  return held_.erase(address) != 0;
}

bool CardMemory::holds(uint64_t address, uint64_t bytes) const {
  const Calls calls(*card_);
  uint64_t first = 0;
  size_t size = 0;
  if (calls->memory_range(&first, &size, address) != engine::cuda::kSuccess) return false;
  return bytes <= size - (address - first);
}

void CardMemory::copy(uint64_t to, uint64_t from, uint64_t bytes, uint64_t stream) const {
  if (bytes == 0) return;
  const Calls calls(*card_);
  calls.check(calls->copy_any(to, from, bytes, stream_of(stream)), "a copy");
  calls.check(calls->stream_wait(stream_of(stream)), "the wait for a copy");
}

void CardMemory::set(uint64_t address, int value, uint64_t bytes, uint64_t stream) const {
  const Calls calls(*card_);
  calls.check(calls->set_bytes(address, static_cast<unsigned char>(value), bytes, stream_of(stream)), "a filling");
}

uint64_t CardMemory::make_stream() const {
  const Calls calls(*card_);
  Stream made = nullptr;
  calls.check(calls->stream_create(&made, engine::cuda::kNonBlockingStream), "a stream");
  return reinterpret_cast<uint64_t>(made);
}

void CardMemory::end_stream(uint64_t stream) const {
  const Calls calls(*card_);
  calls.check(calls->stream_destroy(stream_of(stream)), "the end of a stream");
}

void CardMemory::wait_for_stream(uint64_t stream) const {
  const Calls calls(*card_);
  calls.check(calls->stream_wait(stream_of(stream)), "the wait for a stream");
}

void CardMemory::wait_for_all() const {
  const Calls calls(*card_);
  calls.check(calls->context_wait(), "the wait for its work");
}

uint64_t CardMemory::make_event() const {
  const Calls calls(*card_);
  Event made = nullptr;
  calls.check(calls->event_create(&made, 0), "an event");
  return reinterpret_cast<uint64_t>(made);
}

void CardMemory::end_event(uint64_t event) const {
  const Calls calls(*card_);
  calls.check(calls->event_destroy(event_of(event)), "the end of an event");
}

void CardMemory::record(uint64_t event, uint64_t stream) const {
  const Calls calls(*card_);
  calls.check(calls->event_record(event_of(event), stream_of(stream)), "an event");
}

void CardMemory::wait_for_event(uint64_t event) const {
  const Calls calls(*card_);
  calls.check(calls->event_wait(event_of(event)), "the wait for an event");
}

void CardMemory::make_wait(uint64_t stream, uint64_t event) const {
  const Calls calls(*card_);
  calls.check(calls->stream_wait_event(stream_of(stream), event_of(event), 0), "the wait of a stream");
}

double CardMemory::milliseconds(uint64_t from, uint64_t until) const {
  const Calls calls(*card_);
  float between = 0;
  calls.check(calls->event_milliseconds(&between, event_of(from), event_of(until)), "the time between events");
  return static_cast<double>(between);
}

}  // namespace assay::backends
