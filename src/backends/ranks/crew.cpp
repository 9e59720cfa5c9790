#include "backends/ranks/crew.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

#include "backends/ranks/look_for.h"
#include "base/stop.h"

namespace assay::backends {
namespace {

constexpr double kMostGrace = 5;                             // seconds that ranks have to end when one has failed
constexpr double kAlike = 0.2;                               // of them before they are stopped
constexpr auto kOftenNext = std::chrono::microseconds(100);  // between runs that follow each other
constexpr auto kOftenOff = std::chrono::microseconds(1000);  // a run takes as long as the last one but for this
constexpr auto kLook = std::chrono::milliseconds(20);        // between looks for a failure

}  // namespace

struct Crew::State {
  State(int64_t count, double deadline_seconds, bool uses_library)
      : meeting(count, deadline_seconds, uses_library), deadline(deadline_seconds) {}

  Meeting meeting;
  double deadline;
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void(int64_t rank)> work;
  std::stop_source stop;
  std::atomic<uint64_t> number = 0;  // of the work
  std::atomic<int64_t> running = 0;
  std::atomic<bool> is_closed = false;
  bool is_broken = false;  // a rank was left behind
  std::chrono::nanoseconds last_took = {};
  std::vector<std::thread> threads;

  void serve(int64_t rank) {
    uint64_t done = 0;
    while (true) {
      look_for(kOftenNext, threads_at_work(), [&] { return is_closed || number != done; });
      std::unique_lock lock = quick_lock(mutex);
      changed.wait(lock, [&] { return is_closed || number != done; });
      if (is_closed) return;
      done = number;
      std::function<void(int64_t)> own = work;
      const std::stop_token token = stop.get_token();
      lock.unlock();
      do_work(rank, own, token);
      own = nullptr;  // the caller's data is let go by the caller
      lock = quick_lock(mutex);
      --running;
      changed.notify_all();
    }
  }

  // All ranks and the caller.
  size_t threads_at_work() const { return static_cast<size_t>(meeting.count()) + 1; }

  void do_work(int64_t rank, const std::function<void(int64_t)>& own, const std::stop_token& token) {
    const StopScope stops(token);
    const ops::RanksScope scope(meeting.rank(rank));
    try {
      own(rank);
      meeting.leave(rank);
      return;
    } catch (const Error& error) {
      const bool is_ended = error.code() == ErrorCode::cancelled && meeting.failure();
      if (!is_ended && !meeting.was_released(rank)) meeting.fail_by(rank, error);
    } catch (const std::bad_alloc&) {
      meeting.fail_by(rank, Error(ErrorCode::limit, "there is not enough memory for it"));
    } catch (const std::exception& error) {
      meeting.fail_by(rank, Error(ErrorCode::backend, error.what()));
    }
  }
};

Crew::Crew(int64_t count, double deadline_seconds, bool uses_library)
    : state_(std::make_shared<State>(count, deadline_seconds, uses_library)) {
  for (int64_t rank = 0; rank < count; ++rank) {
    state_->threads.emplace_back([state = state_, rank] { state->serve(rank); });
  }
}

Crew::~Crew() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_closed = true;
    state_->changed.notify_all();
  }
  for (std::thread& thread : state_->threads) state_->is_broken ? thread.detach() : thread.join();
}

void Crew::run(const std::function<void(int64_t rank)>& work) {
  State& state = *state_;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock = quick_lock(state.mutex);
  if (state.is_broken) fail(ErrorCode::backend, "a rank of an earlier run has not come to its end");
  state.meeting.begin();
  state.work = work;
  state.stop = std::stop_source();
  state.running = state.meeting.count();
  ++state.number;
  state.changed.notify_all();
  const std::stop_callback cancelled(stop_token(), [&] {
    state.meeting.cancel();
    state.stop.request_stop();
  });
  const auto is_done = [&] { return state.running == 0; };
  const bool may_sleep = state.last_took > kOftenOff && state.last_took < kLook;
  if (may_sleep) state.changed.wait_until(lock, begin + state.last_took - kOftenOff, is_done);
  lock.unlock();
  look_for(2 * kOftenOff, state.threads_at_work(), is_done);
  lock = quick_lock(state.mutex);
  while (!state.changed.wait_for(lock, kLook, is_done) && !state.meeting.failure()) continue;
  // Ranks that fail likewise may do so, so that it is always the lowest one that is named.
  const bool is_over = state.changed.wait_for(lock, std::chrono::duration<double>(kAlike), is_done);
  if (!is_over) state.stop.request_stop();
  const auto grace = std::chrono::duration<double>(std::min(kMostGrace, state.deadline));
  state.is_broken = !state.changed.wait_for(lock, grace, is_done);
  if (!state.is_broken) {
    state.last_took = std::chrono::steady_clock::now() - begin;
    state.work = nullptr;
    state.meeting.end();
  }
  if (const std::optional<Error> failure = state.meeting.failure()) throw Error(*failure);
}

}  // namespace assay::backends
