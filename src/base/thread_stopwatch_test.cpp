#include "base/thread_stopwatch.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ThreadStopwatch, work_counts_and_waiting_does_not) {
  const ThreadStopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(watch.seconds(), 0.03);
  const double before = watch.seconds();
  volatile double sum = 0;
  for (int i = 0; i < 3'000'000; ++i) sum = sum + i;
  EXPECT_GT(watch.seconds(), before + 1e-4);
}

}  // namespace
}  // namespace assay
