#pragma once

#include <algorithm>
#include <ctime>

#include "base/stopwatch.h"

namespace assay {

// Time since it was made, of work that the calling thread does without waiting: what others took of the processor
// meanwhile does not count.
class ThreadStopwatch {
 public:
  double seconds() const {
    const double wall = wall_.seconds();
    return std::min(wall, now() - begin_);
  }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double begin_ = now();
  Stopwatch wall_;
};

}  // namespace assay
