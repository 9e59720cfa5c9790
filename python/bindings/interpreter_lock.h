#pragma once

#include <nanobind/nanobind.h>

namespace assay::python {

// The interpreter ends while daemon threads are still in native code: from close_interpreter() on, a thread that would
// take the interpreter's lock waits for the end of the process instead, because CPython would end it there, through
// frames that cannot be ended so. The thread that closes is free.

// Gives up the lock of the interpreter while native code runs.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Takes the lock, unless the thread has it.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  bool was_locked_;
  PyGILState_STATE state_;
};

// For the end of the interpreter. If other threads are in native code when the process ends, what they use is not
// destroyed under them.
void close_interpreter();
// To be called once: children that are forked do not wait for threads that they do not have.
void forget_threads_in_children();

}  // namespace assay::python
