#include "ops/ranks.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "ops/node.h"

namespace assay::ops {
namespace {

Ranks*& ranks_of_thread() {
  thread_local Ranks* ranks = nullptr;
  return ranks;
}

size_t place_of(const Collective& collective, int64_t rank) {
  const auto place = std::ranges::find(collective.members, rank);
  if (place == collective.members.end()) fail(ErrorCode::shape, "the root {} is not among its ranks", rank);
  return static_cast<size_t>(place - collective.members.begin());
}

struct TurnOfProcess {
  std::mutex mutex;
  bool is_taken = false;
};
TurnOfProcess& turn_of_process() {
  static auto& turn = *new TurnOfProcess();  // also of threads that end after main()
  return turn;
}

std::string place_of_collective(const Collective& collective) {
  return fmt::format("`{}` ({})", printable(collective.name), collective.operation);
}

std::string shown_in_full(const Collective& collective) {
  return fmt::format("`{}` ({}{}) with {}", printable(collective.name), collective.operation,
                     collective.reduction == "none" ? "" : fmt::format(", {}", collective.reduction),
                     collective.operand);
}

}  // namespace

Error rank_is_late(int64_t rank, std::string_view what, const Collective& collective, double seconds) {
  return Error(ErrorCode::limit,
               fmt::format("rank {} did not {} {} within {:g} s", rank, what, place_of_collective(collective), seconds))
      .remedied_by("rank_timeout");
}

Error rank_has_ended(int64_t rank, const Collective& collective) {
  return {ErrorCode::shape, fmt::format("rank {} has come to its end without {}: its model is another", rank,
                                        place_of_collective(collective))};
}

Error ranks_differ(int64_t rank, const Collective& own, int64_t other, const Collective& of_other) {
  return {ErrorCode::shape, fmt::format("rank {} has come to {}, rank {} to {}", rank, shown_in_full(own), other,
                                        shown_in_full(of_other))};
}

void WaitingTurn::take() {
  if (is_taken_) return;
  const std::scoped_lock lock(turn_of_process().mutex);
  is_taken_ = !std::exchange(turn_of_process().is_taken, true);
}

void WaitingTurn::give_back() {
  if (!std::exchange(is_taken_, false)) return;
  const std::scoped_lock lock(turn_of_process().mutex);
  turn_of_process().is_taken = false;
}

bool unless_kernels_wait(FunctionRef<void()> fn) {
  const std::scoped_lock lock(turn_of_process().mutex);
  if (!turn_of_process().is_taken) fn();
  return !turn_of_process().is_taken;
}

Combination combination_of(const Collective& collective, int64_t rank, uint64_t count) {
  const std::string_view operation = collective.operation;
  const size_t own = place_of(collective, rank);
  const size_t root = collective.root < 0 ? 0 : place_of(collective, collective.root);
  const uint64_t members = collective.members.size();
  const uint64_t share = count / members;
  if (operation == "all_reduce" || operation == "reduce") return {true, {{own, 0, count}}};
  if (operation == "reduce_scatter") return {true, {{own, own * share, share}}};
  if (operation == "broadcast") return {false, {{root, 0, count}}};
  if (operation == "scatter") return {false, {{root, own * share, share}}};
  Combination combination;
  for (size_t part = 0; part < members; ++part) {
    const bool takes_all = operation != "all_to_all";
    combination.pieces.push_back({part, takes_all ? 0 : own * share, takes_all ? count : share});
  }
  return combination;
}

Collective collective_of(const Node& node, tensor::DType dtype, std::span<const int64_t> shape, const Ranks& ranks) {
  const ir::Node& facts = node.ir_node();
  const std::string_view result = node.model().text(node.model()[facts.results[0]].name);
  return {.name = std::string(facts.name.empty() ? result : facts.name),
          .operand = fmt::format("{}[{}]", tensor::name(dtype), fmt::join(shape, ", ")),
          .operation = node.string("collective_operation"),
          .reduction = node.string("reduce_op", "none"),
          .members = members_of(node.integers("groups"), node.integer("group_size", 0), ranks),
          .root = node.integer("root", -1)};
}

RanksScope::RanksScope(Ranks& ranks) : outer_(std::exchange(ranks_of_thread(), &ranks)) {}

RanksScope::~RanksScope() { ranks_of_thread() = outer_; }

Ranks& current_ranks() {
  if (ranks_of_thread() == nullptr) {
    throw Error(ErrorCode::unsupported, "the model is that of one rank, and the other ranks do not run")
        .remedied_by("shard");
  }
  return *ranks_of_thread();
}

std::vector<int64_t> members_of(std::span<const int64_t> groups, int64_t group_size, const Ranks& ranks) {
  std::vector<int64_t> listed(groups.begin(), groups.end());
  if (listed.empty()) {
    listed.resize(static_cast<size_t>(ranks.count()));
    std::iota(listed.begin(), listed.end(), int64_t{0});
  }
  const auto most = static_cast<int64_t>(listed.size());
  const int64_t size = group_size > 0 ? group_size : most;
  if (most % size != 0) fail(ErrorCode::shape, "{} ranks cannot be put into groups of {}", most, size);
  const auto stranger = std::ranges::find_if(listed, [&](int64_t rank) { return rank < 0 || rank >= ranks.count(); });
  if (stranger != listed.end())
    fail(ErrorCode::shape, "its groups name rank {}, and there are {} ranks", *stranger, ranks.count());
  const auto place = std::ranges::find(listed, ranks.rank());
  if (place == listed.end()) fail(ErrorCode::shape, "rank {} is in no group of it", ranks.rank());
  const auto first = listed.begin() + (place - listed.begin()) / size * size;
  return {first, first + size};
}

}  // namespace assay::ops
