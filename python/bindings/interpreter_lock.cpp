#include "interpreter_lock.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace assay::python {
namespace {

// Never destroyed, because threads look at it until the process ends.
struct Threads {
  std::mutex mutex;
  int native = 0;     // in native code, those that wait for the end among them
  int returning = 0;  // about to take the lock
  bool is_closed = false;
  std::thread::id closer;
};

Threads& threads() {
  static Threads* const made = new Threads();
  return *made;
}

[[noreturn]] void wait_for_end() {
  for (;;) pause();
}

void enter_native() {
  const std::scoped_lock lock(threads().mutex);
  ++threads().native;
}

void leave_native() {
  const std::scoped_lock lock(threads().mutex);
  --threads().native;
}

bool may_return() {
  const std::scoped_lock lock(threads().mutex);
  if (threads().is_closed && threads().closer != std::this_thread::get_id()) return false;
  ++threads().returning;
  return true;
}

void announce_return() {
  if (!may_return()) wait_for_end();
}

void note_return() {
  const std::scoped_lock lock(threads().mutex);
  --threads().returning;
}

bool has_returning() {
  const std::scoped_lock lock(threads().mutex);
  return threads().returning > 0;
}

void end_process(int status, void*) {
  {
    const std::scoped_lock lock(threads().mutex);
    if (threads().native == 0) return;
  }
  fflush(stdout);
  fflush(stderr);
  _exit(status);
}

}  // namespace

Unlocked::Unlocked() {
  enter_native();
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  announce_return();
  PyEval_RestoreThread(state_);
  note_return();
  leave_native();
}

Locked::Locked() : was_locked_(PyGILState_Check() != 0) {
  if (was_locked_) return;
  announce_return();
  state_ = PyGILState_Ensure();
  note_return();
}

Locked::~Locked() {
  if (!was_locked_) PyGILState_Release(state_);
}

void close_interpreter() {
  {
    const std::scoped_lock lock(threads().mutex);
    threads().is_closed = true;
    threads().closer = std::this_thread::get_id();
  }
  PyThreadState* const state = PyEval_SaveThread();
  while (has_returning()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
  on_exit(end_process, nullptr);
}

}  // namespace assay::python
