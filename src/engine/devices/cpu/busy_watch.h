#pragma once

#include "base/stopwatch.h"

namespace assay::engine::cpu {

// Times of a piece of work by the clocks, in seconds.
struct Elapsed {
  double wall = 0;
  double caller = 0;   // on a processor
  double process = 0;  // likewise, all threads
  bool was_preempted = false;
};

// Seconds that the work would have taken if nobody else had used the processors: the wall time, unless threads were
// taken off them; then what the busiest of `threads` spent there, as far as the clocks can tell.
double undisturbed_seconds(const Elapsed& elapsed, unsigned threads);

// Time since it was made, of the calling thread and those that work with it.
class BusyWatch {
 public:
  BusyWatch();
  double seconds(unsigned threads) const;

 private:
  double caller_;
  double process_;
  long preemptions_;
  Stopwatch wall_;
};

}  // namespace assay::engine::cpu
