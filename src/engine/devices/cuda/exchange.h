#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "engine/devices/cuda/launch.h"
#include "engine/devices/cuda/summing.h"
#include "ops/ranks.h"

namespace assay::engine::cuda {

// Memory of ranks on cards of their own, for reductions by kernels that wait for each other: on each card an inbox for
// packets of the others, which say what is there. Its kernels run in the order of one queue of each rank.
class Exchange final : public ops::WaitingKernels {
 public:
  // Bytes of parts that each rank sends to all others, and of their packets. Larger ones are read, between two kernels
  // by which ranks meet.
  static constexpr uint64_t kMostPushed = 512 << 10;
  static constexpr uint64_t kMostPacketBytes = 2 * kMostPushed;
  // Bytes of the packets that a part becomes: half of them are content, where threads move four bytes or more at once.
  static uint64_t packet_bytes(const Summing& summing);
  // True if an exchange serves best: more than two ranks read large parts in shares, for which the host meets.
  static bool suits(const Summing& summing);

  // For packets of at least so many bytes, until the era ends.
  Exchange(const std::vector<const Card*>& cards, std::vector<int64_t> members, uint64_t packet_bytes, uint64_t era);
  ~Exchange() override;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // True if each member has a card of its own that reaches those of the others.
  static bool can_serve(std::span<const Card* const> cards);
  uint64_t era() const { return era_; }
  bool is_of(const std::vector<int64_t>& members) const { return ranks_ == members; }
  // True if it takes one more collective of its members.
  bool takes(uint64_t packet_bytes) const;

  // Adds a collective, while the members meet; it is the last one until they meet again.
  void add(const ops::Collective& collective) { collectives_.push_back(collective); }
  // The launch of a kernel of the last collective for the member at this place, with its addresses.
  Launch launch(const Launch& made, size_t place, double deadline_seconds) const;
  // Launch of the same kernel with a state that waits for nobody: it returns at once. Drivers load kernels when they
  // are launched first, and may wait for others meanwhile.
  Launch trial(const Launch& launch, size_t place) const;
  // Throws what kernels of a member have met, if anything, which ends the run.
  void check(size_t place, ops::Ranks& ranks) const;

  void begin() override;
  void leave(int64_t rank) override;
  void fail() override;

 private:
  struct Member {
    std::shared_ptr<const Card> card;
    Buffer inbox;
    Buffer state;
  };

  std::atomic_ref<uint64_t> word(size_t index) const;

  std::vector<Member> members_;
  std::vector<int64_t> ranks_;  // of the members
  uint64_t slot_bytes_;
  uint64_t era_;
  Card::HostBlock words_;
  std::vector<ops::Collective> collectives_;
};

// One rank's place in an exchange.
struct ExchangePlace {
  std::shared_ptr<Exchange> exchange;
  size_t place = 0;
};

class Programs;
// Kernels that reduce parts, without the addresses of an exchange.
std::vector<Launch> make_exchange_launches(Programs& programs, const Summing& summing);

}  // namespace assay::engine::cuda
