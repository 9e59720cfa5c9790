#include "interpreter_lock.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace assay::python {
namespace {

// Without destructors and locks: threads look at them until the process ends, and a child that is forked has a copy.
std::atomic<int> native{0};     // threads in native code, those that wait for the end among them
std::atomic<int> returning{0};  // threads about to take the lock
std::atomic<bool> is_closed{false};
std::thread::id closer;

// The other threads are not in a child.
void forget_threads() {
  native = 0;
  returning = 0;
}

[[noreturn]] void wait_for_end() {
  for (;;) pause();
}

// Who is announced before close_interpreter() looks is waited for there.
void announce_return() {
  ++returning;
  if (!is_closed || closer == std::this_thread::get_id()) return;
  --returning;
  wait_for_end();
}

void end_process(int status, void*) {
  if (native <= 0) return;
  fflush(stdout);
  fflush(stderr);
  _exit(status);
}

}  // namespace

Unlocked::Unlocked() {
  ++native;
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  announce_return();
  PyEval_RestoreThread(state_);
  --returning;
  --native;
}

Locked::Locked() : was_locked_(PyGILState_Check() != 0) {
  if (was_locked_) return;
  announce_return();
  state_ = PyGILState_Ensure();
  --returning;
}

Locked::~Locked() {
  if (!was_locked_) PyGILState_Release(state_);
}

void close_interpreter() {
  closer = std::this_thread::get_id();
  is_closed = true;
  PyThreadState* const state = PyEval_SaveThread();
  while (returning > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
  on_exit(end_process, nullptr);
}

void forget_threads_in_children() { pthread_atfork(nullptr, nullptr, forget_threads); }

}  // namespace assay::python
