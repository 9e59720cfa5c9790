#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/stop.h"
#include "convert.h"

namespace assay::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr int kLooksAfterStop = 50;

std::atomic<int>& abandoned() {
  static std::atomic<int> count = 0;
  return count;
}

// What the caller and the thread that works share.
struct Work {
  std::function<void()> function;
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr error;
  std::stop_source stop;
  bool is_over = false;
  bool is_abandoned = false;

  void run() {
    const StopScope scope(stop.get_token());
    try {
      function();
    } catch (...) {
      error = std::current_exception();
    }
    function = nullptr;
    const std::scoped_lock lock(mutex);
    is_over = true;
    if (is_abandoned) --abandoned();
    changed.notify_all();
  }

  bool wait() {
    const Unlocked scope;
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kBetweenLooks, [this] { return is_over; });
  }

  void abandon() {
    const std::scoped_lock lock(mutex);
    is_abandoned = !is_over;
    if (is_abandoned) ++abandoned();
  }
};

}  // namespace

int abandoned_runs() { return abandoned(); }

void run_interruptibly(std::function<void()> function, AfterStop after) {
  const auto work = std::make_shared<Work>();
  work->function = std::move(function);
  std::thread thread([work] { work->run(); });
  while (!work->wait()) {
    if (PyErr_CheckSignals() == 0) continue;
    nb::python_error interrupt;
    work->stop.request_stop();
    bool is_over = false;
    for (int i = 0; !is_over && (after == AfterStop::wait || i < kLooksAfterStop); ++i) is_over = work->wait();
    if (is_over) {
      unlocked([&] { thread.join(); });
    } else {
      work->abandon();
      thread.detach();
    }
    throw interrupt;
  }
  unlocked([&] { thread.join(); });
  if (work->error) std::rethrow_exception(work->error);
}

}  // namespace assay::python
