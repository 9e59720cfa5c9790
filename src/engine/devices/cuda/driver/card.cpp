#include "engine/devices/cuda/driver/card.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/foreign_code.h"
#include "base/shared_library.h"
#include "ops/ranks.h"

namespace assay::engine::cuda {
namespace {

constexpr int kLeastCapability = 80;

// Memory of the card, and what keeps its context.
class Piece {
 public:
  Piece(std::shared_ptr<const Card> card, DevicePointer first, uint64_t bytes)
      : card_(std::move(card)), first_(first), bytes_(bytes) {}
  ~Piece() { card_->release(first_, bytes_); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

 private:
  std::shared_ptr<const Card> card_;
  DevicePointer first_;
  uint64_t bytes_;
};

}  // namespace

Card::Card(const Driver& driver, int number) : driver_(driver), number_(number) {
  if (number < 0 || number >= driver.card_count()) {
    fail(ErrorCode::backend, "there is no card {}: the driver finds {}", number, driver.card_count());
  }
  driver_.check(api().device_get(&device_, number), "a card");
  std::array<char, 256> text{};
  driver_.check(api().device_name(text.data(), static_cast<int>(text.size()), device_), "a card's name");
  name_ = text.data();
  capability_ = attribute(Attribute::capability_major) * 10 + attribute(Attribute::capability_minor);
  if (capability_ < kLeastCapability) {
    fail(ErrorCode::backend, "{} has compute capability {}.{}; the engine needs 8.0 or later", name_, capability_ / 10,
         capability_ % 10);
  }
  multiprocessors_ = attribute(Attribute::multiprocessors);
  const SignalGuard signals;
  const FloatModeGuard floats;
  const ForeignCode code("the CUDA driver");
  driver_.check(api().context_retain(&context_, device_), "a context");
  enter();
  void* fault = nullptr;
  const Result result = api().allocate_host(&fault, sizeof(int), kSharedHostMemory);
  if (result != kSuccess) api().context_release(device_);
  driver_.check(result, "memory of the host");
  fault_ = static_cast<volatile int*>(fault);
  *fault_ = 0;
}

Card::~Card() {
  api().context_set(context_);
  free_kept();
  for (const HostBlock& block : free_blocks_) api().free_host(block.first);
  api().free_host(const_cast<int*>(fault_));
  api().context_release(device_);
}

bool Card::take_fault() const {
  if (*fault_ == 0) return false;
  *fault_ = 0;
  return true;
}

bool Card::can_reach(const Card& other) const {
  if (other.device_ == device_) return true;
  enter();
  int can_reach = 0;
  driver_.check(api().device_reaches(&can_reach, device_, other.device_), "a fact about two cards");
  return can_reach != 0;
}

void Card::reach(const Card& other) const {
  if (other.device_ == device_) return;
  const std::scoped_lock lock(mutex_);
  if (reached_.contains(other.context_)) return;
  if (!can_reach(other)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("cuda:{} cannot read the memory of cuda:{}: there is no peer access between them", number_,
                            other.number_))
        .remedied_by("rank_transport");
  }
  const Result result = api().peer_enable(other.context_, 0);
  if (result != kPeerIsEnabled) driver_.check(result, fmt::format("peer access to cuda:{}", other.number_));
  reached_.insert(other.context_);
}

int Card::attribute(Attribute wanted) const {
  int value = 0;
  driver_.check(api().device_attribute(&value, static_cast<int>(wanted), device_), "a fact about a card");
  return value;
}

uint64_t Card::free_bytes() const { return sizes_of_memory().first; }
uint64_t Card::memory_bytes() const { return sizes_of_memory().second; }

std::pair<uint64_t, uint64_t> Card::sizes_of_memory() const {
  enter();
  size_t free = 0, all = 0;
  driver_.check(api().memory_info(&free, &all), "the size of its memory");
  return {free, all};
}

Card::HostBlock Card::take_host_block() const {
  constexpr size_t kBytes = size_t{1} << 20;
  {
    const std::scoped_lock lock(mutex_);
    if (!free_blocks_.empty()) {
      const HostBlock block = free_blocks_.back();
      free_blocks_.pop_back();
      return block;
    }
  }
  void* first = nullptr;
  const Result result = api().allocate_host(&first, kBytes, kSharedHostMemory);
  if (result == kOutOfMemory) return {};
  driver_.check(result, "memory of the host");
  return {static_cast<std::byte*>(first), kBytes};
}

void Card::give_back(const HostBlock& block) const {
  const std::scoped_lock lock(mutex_);
  free_blocks_.push_back(block);
}

// Nothing can be done about an error: the context is gone, and the memory with it.
void Card::release(DevicePointer first, uint64_t size_bytes) const {
  api().context_set(context_);
  const std::scoped_lock lock(mutex_);
  const bool is_freed = ops::unless_kernels_wait([&] {
    api().free(first);
    free_kept();
  });
  if (!is_freed) kept_.emplace(size_bytes, first);
}

void Card::free_kept() const {
  for (const auto& [bytes, first] : kept_) api().free(first);
  kept_.clear();
}

// False: none is kept, or it still has to be.
bool Card::gave_kept() const {
  const std::scoped_lock lock(mutex_);
  return !kept_.empty() && ops::unless_kernels_wait([&] { free_kept(); });
}

// Null: none of that size was kept. Whoever had it may still have work that uses it.
DevicePointer Card::take_kept(uint64_t size_bytes) const {
  DevicePointer first = 0;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find(size_bytes);
    if (found == kept_.end()) return 0;
    first = found->second;
    kept_.erase(found);
  }
  const Result result = api().context_wait();
  if (result == kSuccess) return first;
  release(first, size_bytes);
  driver_.check(result, "the wait for its work");
  return 0;
}

Buffer Card::allocate(uint64_t size_bytes) const {
  enter();
  if (const DevicePointer kept = take_kept(size_bytes); kept != 0) {
    return {{kept}, size_bytes, std::make_shared<const Piece>(shared_from_this(), kept, size_bytes)};
  }
  DevicePointer first = 0;
  Result result = api().allocate(&first, std::max<uint64_t>(size_bytes, 1));
  if (result == kOutOfMemory && gave_kept()) result = api().allocate(&first, std::max<uint64_t>(size_bytes, 1));
  if (result == kOutOfMemory) {
    fail(ErrorCode::limit, "{} has no {} bytes left: {} are free", name_, size_bytes, free_bytes());
  }
  driver_.check(result, "memory");
  return {{first}, size_bytes, std::make_shared<const Piece>(shared_from_this(), first, size_bytes)};
}

}  // namespace assay::engine::cuda
