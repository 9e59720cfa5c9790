#include "engine/devices/cpu/busy_watch.h"

#include <gtest/gtest.h>

namespace assay::engine::cpu {
namespace {

TEST(BusyWatch, time_that_others_took_does_not_count) {
  EXPECT_EQ(undisturbed_seconds({.wall = 9, .caller = 2, .process = 6, .was_preempted = false}, 2), 9);
  EXPECT_EQ(undisturbed_seconds({.wall = 9, .caller = 2, .process = 2, .was_preempted = true}, 1), 2);
  EXPECT_EQ(undisturbed_seconds({.wall = 9, .caller = 2, .process = 6, .was_preempted = true}, 2), 4);
  EXPECT_EQ(undisturbed_seconds({.wall = 9, .caller = 3, .process = 6, .was_preempted = true}, 4), 3);
  // Never more than went by: threads that have nothing to do with it count for the process.
  EXPECT_EQ(undisturbed_seconds({.wall = 9, .caller = 2, .process = 30, .was_preempted = true}, 2), 9);
}

TEST(BusyWatch, work_takes_as_long_as_it_takes) {
  const BusyWatch watch;
  const Stopwatch wall;
  while (wall.seconds() < 0.02) continue;
  EXPECT_GT(watch.seconds(1), 0);
  EXPECT_LE(watch.seconds(1), wall.seconds() + 1e-3);
}

}  // namespace
}  // namespace assay::engine::cpu
