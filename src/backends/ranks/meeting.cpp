#include "backends/ranks/meeting.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/ranks/look_for.h"
#include "base/text.h"
#include "ir/model.h"

namespace assay::backends {

// One collective of some ranks, again and again.
struct Meeting::Round {
  std::vector<int64_t> members;
  std::vector<std::optional<ops::Collective>> calls;  // by member
  std::vector<tensor::Tensor> parts;
  std::vector<bool> has_left;  // by member
  size_t arrived = 0;
  size_t left = 0;
  uint64_t number = 0;  // of rounds that are over
};

class Meeting::Member final : public ops::Ranks {
 public:
  Member(Meeting& meeting, int64_t rank) : meeting_(meeting), rank_(rank) {}
  int64_t rank() const override { return rank_; }
  int64_t count() const override { return meeting_.count(); }
  bool uses_library() const override { return meeting_.uses_library_; }
  std::optional<uint64_t> era() const override { return meeting_.era_; }
  bool may_wait() const override { return meeting_.turn_.is_taken(); }
  double deadline_seconds() const override { return meeting_.deadline_seconds_; }
  void tell(std::weak_ptr<ops::WaitingKernels> kernels) override { meeting_.tell(std::move(kernels)); }
  [[noreturn]] void end(Error error) override {
    meeting_.release(rank_);
    const std::scoped_lock lock(meeting_.mutex_);
    meeting_.stop(std::move(error));
  }
  std::shared_ptr<void>& shared(const std::vector<int64_t>& members) override {
    const std::scoped_lock lock(meeting_.mutex_);
    return meeting_.shared_[members];
  }
  void meet(const ops::Collective& collective, const tensor::Tensor& mine,
            FunctionRef<void(std::span<const tensor::Tensor> parts)> combine) override {
    bool is_own = false;  // a fault of the rank
    const auto combine_own = [&](std::span<const tensor::Tensor> parts) {
      is_own = true;
      combine(parts);
      is_own = false;
    };
    try {
      meeting_.meet(rank_, collective, mine, combine_own);
    } catch (const Error&) {
      if (!is_own) meeting_.release(rank_);
      throw;
    }
  }

 private:
  Meeting& meeting_;
  int64_t rank_;
};

Meeting::Meeting(int64_t count, double deadline_seconds, bool uses_library)
    : deadline_seconds_(deadline_seconds),
      uses_library_(uses_library),
      is_done_(static_cast<size_t>(count)),
      is_released_(static_cast<size_t>(count)) {
  for (int64_t number = 0; number < count; ++number) members_.push_back(std::make_unique<Member>(*this, number));
}

Meeting::~Meeting() = default;

void Meeting::begin() {
  const std::scoped_lock lock(mutex_);
  rounds_.clear();
  era_ = !era_ ? 0 : *era_ + (failure_ ? 1 : 0);
  failure_.reset();
  failed_rank_.reset();
  std::fill(is_done_.begin(), is_done_.end(), false);
  std::fill(is_released_.begin(), is_released_.end(), false);
  std::erase_if(waiting_, [](const auto& kernels) { return kernels.expired(); });
  if (!waiting_.empty()) turn_.take();
  each_waiting([](ops::WaitingKernels& kernels) { kernels.begin(); });
}

void Meeting::end() { turn_.give_back(); }

void Meeting::tell(std::weak_ptr<ops::WaitingKernels> kernels) {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(std::move(kernels));
}

void Meeting::each_waiting(FunctionRef<void(ops::WaitingKernels& kernels)> fn) const {
  for (const auto& kernels : waiting_) {
    if (const auto held = kernels.lock()) fn(*held);
  }
}

void Meeting::end_by(Error error) {
  if (!failure_) failure_ = std::move(error);
  each_waiting([](ops::WaitingKernels& kernels) { kernels.fail(); });
  notify();
}

ops::Ranks& Meeting::rank(int64_t number) { return *members_[static_cast<size_t>(number)]; }

void Meeting::leave(int64_t rank) {
  const std::unique_lock lock = quick_lock(mutex_);
  is_done_[static_cast<size_t>(rank)] = true;
  each_waiting([&](ops::WaitingKernels& kernels) { kernels.leave(rank); });
  notify();
}

void Meeting::fail_by(int64_t rank, Error error) {
  const std::scoped_lock lock(mutex_);
  if (!failure_ || (failed_rank_ && rank < *failed_rank_)) {
    failure_ = error.add_frame(fmt::format("rank {}", rank));
    failed_rank_ = rank;
  }
  is_done_[static_cast<size_t>(rank)] = true;
  end_by(std::move(error));
}

void Meeting::release(int64_t rank) {
  const std::scoped_lock lock(mutex_);
  is_released_[static_cast<size_t>(rank)] = true;
}

void Meeting::cancel() {
  const std::scoped_lock lock(mutex_);
  end_by(Error(ErrorCode::cancelled, "the run was stopped"));
}

bool Meeting::was_released(int64_t rank) const {
  const std::scoped_lock lock(mutex_);
  return is_released_[static_cast<size_t>(rank)];
}

std::optional<Error> Meeting::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void Meeting::stop(Error error) {
  end_by(std::move(error));
  throw Error(*failure_);
}

// The first member that the others wait for is at fault.
Error Meeting::missing(const Round& round, bool is_late) const {
  const bool is_arriving = round.arrived < round.members.size();
  const auto is_awaited = [&](size_t i) { return is_arriving ? !round.calls[i] : !round.has_left[i]; };
  size_t absent = 0;
  while (!is_awaited(absent)) ++absent;
  const auto& call = **std::ranges::find_if(round.calls, [](const auto& known) { return known.has_value(); });
  const int64_t rank = round.members[absent];
  if (!is_late) return ops::rank_has_ended(rank, call);
  return ops::rank_is_late(rank, is_arriving ? "come to" : "go on from", call, deadline_seconds_);
}

// True if a member that has not come will not come any more.
bool Meeting::is_hopeless(const Round& round) const {
  for (size_t i = 0; i < round.members.size(); ++i) {
    if (!round.calls[i] && is_done_[static_cast<size_t>(round.members[i])]) return true;
  }
  return false;
}

void Meeting::notify() {
  ++changes_;
  changed_.notify_all();
}

void Meeting::spin(std::unique_lock<std::mutex>& lock) {
  constexpr auto kLongest = std::chrono::microseconds(50);
  const uint64_t seen = changes_;
  lock.unlock();
  look_for(kLongest, is_done_.size(), [&] { return changes_ != seen; });
  lock.lock();
}

template <typename Done>
void Meeting::wait(std::unique_lock<std::mutex>& lock, const Round& round, Done&& done) {
  if (!failure_ && !done()) spin(lock);
  const auto limit = std::chrono::duration<double>(deadline_seconds_);
  const bool is_in_time = changed_.wait_for(lock, limit, [&] { return failure_ || done() || is_hopeless(round); });
  if (failure_) throw Error(*failure_);
  if (!done()) stop(missing(round, !is_in_time));
}

void Meeting::check_same(const Round& round) {
  for (size_t i = 1; i < round.members.size(); ++i) {
    const ops::Collective& a = *round.calls[0];
    const ops::Collective& b = *round.calls[i];
    const bool is_same = a.name == b.name && a.operand == b.operand && a.operation == b.operation &&
                         a.reduction == b.reduction && a.root == b.root;
    const bool lies_alike =
        round.parts[0].dtype() == round.parts[i].dtype() && round.parts[0].shape() == round.parts[i].shape();
    if (is_same && !lies_alike)
      stop(Error(ErrorCode::unsupported, fmt::format("rank {} computes `{}` on another kind of device than rank {}",
                                                     round.members[i], printable(a.name), round.members[0])));
    if (is_same) continue;
    stop(ops::ranks_differ(round.members[i], b, round.members[0], a));
  }
}

void Meeting::meet(int64_t rank, const ops::Collective& collective, const tensor::Tensor& mine,
                   FunctionRef<void(std::span<const tensor::Tensor> parts)> combine) {
  std::unique_lock lock(mutex_);
  if (failure_) throw Error(*failure_);
  std::unique_ptr<Round>& held = rounds_[collective.members];
  if (!held) {
    const size_t count = collective.members.size();
    held = std::make_unique<Round>();
    held->members = collective.members;
    held->calls.resize(count);
    held->parts.resize(count);
    held->has_left.resize(count);
  }
  Round& round = *held;
  const auto place = static_cast<size_t>(std::ranges::find(round.members, rank) - round.members.begin());
  const uint64_t number = round.number;
  round.calls[place] = collective;
  round.parts[place] = mine;
  ++round.arrived;
  notify();
  wait(lock, round, [&] { return round.arrived == round.members.size(); });
  check_same(round);
  lock.unlock();
  combine(round.parts);
  lock.lock();
  round.has_left[place] = true;
  if (++round.left < round.members.size()) {
    wait(lock, round, [&] { return round.number != number; });
    return;
  }
  round.calls.assign(round.members.size(), std::nullopt);
  round.parts.assign(round.members.size(), tensor::Tensor());
  round.has_left.assign(round.members.size(), false);
  round.arrived = round.left = 0;
  ++round.number;
  notify();
}

}  // namespace assay::backends
