#include "engine/devices/cuda/exchange.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kThreadsOfExchange = 128;
constexpr int64_t kBlocksOfExchange = 128;  // at most
constexpr unsigned kThreadsOfMeeting = 32;
constexpr unsigned kThreadsOfReading = 256;
constexpr int64_t kBlocksOfReading = 256;  // at most
constexpr uint64_t kLeastSlot = 64 << 10;  // besides its header
constexpr size_t kPartsBegin = 2;          // words behind the first of a rank's state
constexpr size_t kStateWords = 32;
constexpr size_t kTrialWords = 2;             // behind a state
constexpr size_t kMostCollectives = 1 << 16;  // that faults tell apart
constexpr uint64_t kHeaderWords = 2;          // before the packets of a part

// Places among a launch's pointers and numbers.
enum PointerPlace : uint8_t { kWordsPointer = 1, kFirstInbox };
enum NumberPlace : uint8_t { kOwnNumber = 2, kIdentityNumber, kSlotBytesNumber, kMillisecondsNumber };

// Reasons of a kernel that waits no more.
enum Fault : uint8_t { kIsLate = 1, kHasLeft, kHasFailed, kIsAnother };

// Zeros, and behind them so many bytes of ones: a state that has failed.
Buffer words_on(const Card& card, uint64_t bytes, uint64_t bytes_of_ones) {
  const Buffer made = card.allocate(bytes + bytes_of_ones);
  const auto fill = [&](uint64_t at, unsigned word, uint64_t count) {
    if (count != 0)
      card.driver().check(card.api().set_words(at, word, count / sizeof(int32_t), nullptr), "memory of ranks");
  };
  fill(made.first.value, 0, bytes);
  fill(made.first.value + bytes, 1, bytes_of_ones);
  card.driver().check(card.api().stream_wait(nullptr), "memory of ranks");
  return made;
}

// Names of all that an exchange's kernels are given.
KernelWriter writer_of_exchange(const Summing& summing, int64_t blocks) {
  KernelWriter writer;
  writer.type("T", summing.dtype);
  writer.pointer("kIn", "const T", input_pointer(0));
  writer.pointer("kWords", "uint64", fixed_pointer({}));
  for (int64_t i = 0; i < 2 * summing.ranks; ++i) writer.launch().pointers.push_back(fixed_pointer({}));
  writer.number("kCount", summing.count);
  writer.number("kBlocks", blocks);
  for (const char* const name : {"kOwn", "kIdentity", "kSlotBytes", "kMilliseconds"}) writer.number(name, 0);
  writer.constant("kRanks", summing.ranks);
  writer.constant("kFirstInbox", kFirstInbox);
  writer.constant("kPartsBegin", kPartsBegin);
  writer.constant("kHeaderWords", kHeaderWords);
  writer.constant("kIsLate", kIsLate);
  writer.constant("kHasLeft", kHasLeft);
  writer.constant("kHasFailed", kHasFailed);
  writer.constant("kIsAnother", kIsAnother);
  return writer;
}

// Packets, each with four bytes, for a pack of elements.
uint64_t words_of_pack(const Summing& summing) {
  return (static_cast<uint64_t>(summing.site.pack()) * tensor::bit_width(summing.dtype) / 8 + 3) / 4;
}

}  // namespace

std::vector<Launch> make_exchange_launches(Programs& programs, const Summing& summing) {
  const int64_t packs = summing.count / summing.site.pack();
  const bool is_read = Exchange::packet_bytes(summing) > Exchange::kMostPacketBytes;
  const unsigned threads = is_read ? kThreadsOfReading : kThreadsOfExchange;
  const int64_t blocks = std::min((packs + threads - 1) / threads, is_read ? kBlocksOfReading : kBlocksOfExchange);
  KernelWriter writer = writer_of_exchange(summing, blocks);
  writer.constant("kFirst", 0);
  writer.text(summed_text(summing, writer.launch()));
  writer.text(packets_text());
  if (!is_read) {
    writer.constant("kPackWords", static_cast<int64_t>(words_of_pack(summing)));
    return {writer.finish(programs, threads, blocks, exchange_text(), reduced_text())};
  }
  KernelWriter meeting = writer_of_exchange(summing, 1);
  const Launch met = meeting.finish(programs, kThreadsOfMeeting, 1, ranks_meet_text(), packets_text());
  return {met, writer.finish(programs, threads, blocks, told_parts_text(), reduced_text()), met};
}

Exchange::Exchange(const std::vector<const Card*>& cards, std::vector<int64_t> members, uint64_t packet_bytes,
                   uint64_t era)
    : ranks_(std::move(members)),
      slot_bytes_(std::bit_ceil(std::clamp(packet_bytes, kLeastSlot, kMostPacketBytes)) +
                  kHeaderWords * sizeof(uint64_t)),
      era_(era) {
  const uint64_t others = cards.size() - 1;
  for (const Card* const card : cards) {
    members_.push_back({card->shared_from_this(), words_on(*card, 2 * others * slot_bytes_, 0),
                        words_on(*card, kStateWords * sizeof(uint64_t), kTrialWords * sizeof(uint64_t))});
  }
  words_ = cards.front()->take_host_block();
  if (words_.first == nullptr) assay::fail(ErrorCode::limit, "the host has no memory left that cards reach");
  for (size_t i = 0; i <= 2 * cards.size(); ++i) word(i) = 0;
}

Exchange::~Exchange() {
  if (words_.first != nullptr) members_.front().card->give_back(words_);
}

bool Exchange::can_serve(std::span<const Card* const> cards) {
  for (const Card* const card : cards) {
    for (const Card* const other : cards) {
      if (card != other && (card->number() == other->number() || !card->can_reach(*other))) return false;
    }
  }
  return std::ranges::count(cards, cards.front()) == 1;
}

bool Exchange::takes(uint64_t packet_bytes) const {
  const uint64_t slot = std::min(packet_bytes, kMostPacketBytes) + kHeaderWords * sizeof(uint64_t);
  return slot <= slot_bytes_ && collectives_.size() < kMostCollectives;
}

uint64_t Exchange::packet_bytes(const Summing& summing) {
  const uint64_t packs = static_cast<uint64_t>(summing.count / summing.site.pack());
  return packs * words_of_pack(summing) * sizeof(uint64_t);
}

bool Exchange::suits(const Summing& summing) { return summing.ranks == 2 || packet_bytes(summing) <= kMostPacketBytes; }

// Words: that the run has failed, then that members have left, then what their kernels have met.
std::atomic_ref<uint64_t> Exchange::word(size_t index) const {
  return std::atomic_ref<uint64_t>(reinterpret_cast<uint64_t*>(words_.first)[index]);
}

void Exchange::begin() {
  for (size_t i = 0; i <= members_.size(); ++i) word(i) = 0;
}

void Exchange::leave(int64_t rank) {
  const auto place = std::ranges::find(ranks_, rank);
  if (place != ranks_.end()) word(static_cast<size_t>(place - ranks_.begin()) + 1) = 1;
}

void Exchange::fail() { word(0) = 1; }

Launch Exchange::launch(const Launch& made, size_t place, double deadline_seconds) const {
  constexpr double kMostMilliseconds = std::numeric_limits<int32_t>::max();
  Launch launch = made;
  launch.begins_early = true;
  launch.pointers[kWordsPointer] = fixed_pointer(host_address(words_.first));
  for (size_t i = 0; i < members_.size(); ++i) {
    launch.pointers[kFirstInbox + i] = fixed_pointer(members_[i].inbox.first);
    launch.pointers[kFirstInbox + members_.size() + i] = fixed_pointer(members_[i].state.first);
  }
  launch.numbers[kOwnNumber] = static_cast<int32_t>(place);
  launch.numbers[kIdentityNumber] = static_cast<int32_t>(collectives_.size() - 1);
  launch.numbers[kSlotBytesNumber] = static_cast<int32_t>(slot_bytes_);
  launch.numbers[kMillisecondsNumber] =
      static_cast<int32_t>(std::min(std::ceil(deadline_seconds * 1e3), kMostMilliseconds));
  return launch;
}

Launch Exchange::trial(const Launch& launch, size_t place) const {
  const Buffer& state = members_[place].state;
  Launch trial = launch;
  trial.pointers[kFirstInbox + members_.size() + place] =
      fixed_pointer(state.first + (state.bytes - kTrialWords * sizeof(uint64_t)));
  return trial;
}

void Exchange::check(size_t place, ops::Ranks& ranks) const {
  const uint64_t met = word(1 + members_.size() + place).exchange(0);
  if (met == 0) return;
  const int64_t rank = ranks_[met >> 8 & 0xff];
  const ops::Collective& own = collectives_[met >> 16 & 0xffff];
  switch (static_cast<Fault>(met & 0xff)) {
    case kIsLate:
      return ranks.end(ops::rank_is_late(rank, "come to", own, ranks.deadline_seconds()));
    case kHasLeft:
      return ranks.end(ops::rank_has_ended(rank, own));
    case kIsAnother: {
      const ops::Collective& other = collectives_[met >> 32 & 0xffff];
      const bool is_first = rank < ranks_[place];
      return is_first ? ranks.end(ops::ranks_differ(ranks_[place], own, rank, other))
                      : ranks.end(ops::ranks_differ(rank, other, ranks_[place], own));
    }
    case kHasFailed:
      break;
  }
  ranks.end(Error(ErrorCode::cancelled, "the run was stopped"));
}

}  // namespace assay::engine::cuda
