#include "engine/devices/cpu/busy_watch.h"

#include <algorithm>

#include <sys/resource.h>
#include <time.h>

namespace assay::engine::cpu {
namespace {

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

double undisturbed_seconds(const Elapsed& elapsed, unsigned threads) {
  if (!elapsed.was_preempted) return elapsed.wall;
  const double others = threads > 1 ? (elapsed.process - elapsed.caller) / (threads - 1) : 0;
  return std::min(elapsed.wall, std::max(elapsed.caller, others));
}

BusyWatch::BusyWatch()
    : caller_(now(CLOCK_THREAD_CPUTIME_ID)), process_(now(CLOCK_PROCESS_CPUTIME_ID)), preemptions_(preemptions()) {}

double BusyWatch::seconds(unsigned threads) const {
  const double wall = wall_.seconds();
  return undisturbed_seconds({.wall = wall,
                              .caller = now(CLOCK_THREAD_CPUTIME_ID) - caller_,
                              .process = now(CLOCK_PROCESS_CPUTIME_ID) - process_,
                              .was_preempted = preemptions() != preemptions_},
                             threads);
}

}  // namespace assay::engine::cpu
