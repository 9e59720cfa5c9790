#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/float_rules.h"

namespace assay {
namespace {

class Parallel : public testing::Test {
 protected:
  void TearDown() override { set_thread_count(0); }
};

std::vector<int> visits(uint64_t count, uint64_t grain) {
  std::vector<int> seen(count, 0);
  parallel_for(count, grain, [&](uint64_t begin, uint64_t end) {
    EXPECT_EQ(begin % grain, 0u);
    EXPECT_EQ(end, std::min(begin + grain, count));
    for (uint64_t item = begin; item < end; ++item) ++seen[item];
  });
  return seen;
}

TEST_F(Parallel, every_item_is_visited_once) {
  for (unsigned threads : {1u, 2u, 5u}) {
    set_thread_count(threads);
    for (uint64_t count : {0, 1, 2, 63, 1000, 4097}) {
      for (uint64_t grain : {1, 7, 64, 5000}) EXPECT_EQ(visits(count, grain), std::vector<int>(count, 1));
    }
  }
}

TEST_F(Parallel, all_threads_compute_by_the_rules_of_their_caller) {
  set_thread_count(3);
  const auto threads_that_keep = [] {
    std::atomic<int> kept = 0;
    parallel_for(300, 1, [&](uint64_t, uint64_t) {
      volatile float least = 0x1p-126F;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      kept += least * 0.5F > 0 ? 1 : 0;
    });
    return kept.load();
  };
  EXPECT_EQ(threads_that_keep(), 300);
  {
    const FloatScope scope(FloatRules::current().flushing());
    EXPECT_EQ(threads_that_keep(), 0);
  }
  EXPECT_EQ(threads_that_keep(), 300);
}

TEST_F(Parallel, many_short_jobs_in_a_row) {
  for (unsigned threads : {2u, 5u}) {
    set_thread_count(threads);
    std::atomic<uint64_t> sum = 0;
    for (int job = 0; job < 2000; ++job) parallel_for(5, 1, [&](uint64_t begin, uint64_t) { sum += begin; });
    EXPECT_EQ(sum, 2000u * 10u);
  }
}

TEST_F(Parallel, sizes_near_the_end_of_the_range_do_not_overflow) {
  const uint64_t huge = ~uint64_t{0};
  std::atomic<uint64_t> items = 0;
  parallel_for(huge, huge / 3, [&](uint64_t begin, uint64_t end) { items += end - begin; });
  parallel_for(3, huge, [&](uint64_t begin, uint64_t end) { items += end - begin; });
  EXPECT_EQ(items, huge + 3);
}

TEST_F(Parallel, several_threads_work) {
  set_thread_count(2);
  EXPECT_EQ(thread_count(), 2u);
  std::atomic<int> arrived = 0;
  parallel_for(2, 1, [&](uint64_t, uint64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST_F(Parallel, each_thread_begins_with_a_share_of_its_own) {
  set_thread_count(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<uint64_t> second = 0;
    std::atomic<bool> has_begun = false;  // neither helps the other before both have
    parallel_for(9, 1, [&, caller = std::this_thread::get_id()](uint64_t piece, uint64_t) {
      if (piece == 0) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        has_begun = true;
        while (second == 0) std::this_thread::yield();
        return;
      }
      uint64_t none = 0;
      second.compare_exchange_strong(none, piece);
      while (!has_begun) std::this_thread::yield();
    });
    EXPECT_EQ(second, 5u);
  }
}

TEST_F(Parallel, one_thread_is_the_caller) {
  set_thread_count(1);
  parallel_for(100, 1, [caller = std::this_thread::get_id()](uint64_t, uint64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST_F(Parallel, the_default_is_what_the_process_may_use) {
  set_thread_count(0);
  EXPECT_GE(thread_count(), 1u);
  EXPECT_LE(thread_count(), std::max(1u, std::thread::hardware_concurrency()));
}

std::string failure_of(uint64_t count, uint64_t first_bad) {
  try {
    parallel_for(count, 1, [&](uint64_t begin, uint64_t) {
      if (begin >= first_bad) throw std::runtime_error(std::to_string(begin));
      if (begin + 1 == first_bad) std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST_F(Parallel, the_exception_of_the_lowest_piece_is_rethrown) {
  for (unsigned threads : {1u, 2u, 5u}) {
    set_thread_count(threads);
    for (int round = 0; round < 50; ++round) EXPECT_EQ(failure_of(40, 7), "7");
    EXPECT_EQ(failure_of(40, 0), "0");
    EXPECT_EQ(failure_of(40, 39), "39");
    EXPECT_EQ(failure_of(40, 40), "none");
  }
}

TEST_F(Parallel, a_late_failure_of_a_lower_piece_wins) {
  set_thread_count(2);
  std::atomic<bool> second_failed = false;
  try {
    parallel_for(2, 1, [&](uint64_t begin, uint64_t) {
      if (begin == 1) {
        second_failed = true;
        throw std::runtime_error("1");
      }
      while (!second_failed) std::this_thread::yield();
      throw std::runtime_error("0");
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "0");
  }
}

TEST_F(Parallel, a_call_from_a_piece_stays_in_its_thread) {
  set_thread_count(3);
  std::atomic<int> items = 0;
  parallel_for(8, 1, [&](uint64_t, uint64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(20, 3, [&](uint64_t begin, uint64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      items += int(end - begin);
    });
  });
  EXPECT_EQ(items, 160);
}

TEST_F(Parallel, callers_at_once_take_turns) {
  set_thread_count(2);
  std::atomic<uint64_t> items = 0;
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int job = 0; job < 300; ++job) {
        parallel_for(50, 3, [&](uint64_t begin, uint64_t end) { items += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(items, 4u * 300u * 50u);
}

TEST_F(Parallel, the_number_of_threads_may_change_between_and_during_jobs) {
  std::atomic<uint64_t> items = 0;
  for (unsigned round = 0; round < 60; ++round) {
    set_thread_count(round % 6 + 1);
    parallel_for(30, 1, [&](uint64_t begin, uint64_t end) {
      if (begin == 3) set_thread_count(round % 4 + 1);
      items += end - begin;
    });
  }
  EXPECT_EQ(items, 60u * 30u);
}

TEST_F(Parallel, a_pool_counts_for_the_thread_that_chose_it) {
  set_thread_count(2);
  const ThreadPool three(3);
  {
    const PoolScope scope(three);
    EXPECT_EQ(thread_count(), 3u);
    {
      const ThreadPool one(1);
      const PoolScope inner(one);
      EXPECT_EQ(thread_count(), 1u);
    }
    std::atomic<int> arrived = 0;
    parallel_for(3, 1, [&](uint64_t, uint64_t) {
      EXPECT_EQ(thread_count(), 3u);
      ++arrived;
      while (arrived < 3) std::this_thread::yield();
    });
    std::thread([] { EXPECT_EQ(thread_count(), 2u); }).join();
  }
  EXPECT_EQ(thread_count(), 2u);
}

// Each of two callers needs two threads at once, and the other caller beside them.
TEST_F(Parallel, callers_with_pools_of_their_own_do_not_take_turns) {
  std::atomic<int> arrived = 0;
  const auto call = [&] {
    const ThreadPool pool(2);
    const PoolScope scope(pool);
    parallel_for(2, 1, [&](uint64_t, uint64_t) {
      ++arrived;
      while (arrived < 4) std::this_thread::yield();
    });
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(arrived, 4);
}

double sum_of_roots() {
  return parallel_reduce(
      10001, 100, 0.0,
      [](uint64_t begin, uint64_t end) {
        double sum = 0;
        for (uint64_t item = begin; item < end; ++item) sum += std::sqrt(double(item));
        return sum;
      },
      [](double left, double right) { return left + right; });
}

TEST_F(Parallel, reduce_gives_the_same_bits_with_any_number_of_threads) {
  std::set<double> sums;
  for (unsigned threads : {1u, 2u, 3u, 5u, 8u}) {
    set_thread_count(threads);
    for (int round = 0; round < 20; ++round) sums.insert(sum_of_roots());
  }
  EXPECT_EQ(sums.size(), 1u);
  EXPECT_NEAR(*sums.begin(), 2.0 / 3.0 * std::pow(10000.0, 1.5) + 50, 1);
}

TEST_F(Parallel, sleeping_workers_use_no_processor) {
  set_thread_count(4);
  parallel_for(8, 1, [](uint64_t, uint64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 20);
}

void exit_from_a_piece() {
  set_thread_count(3);
  parallel_for(100, 1, [](uint64_t begin, uint64_t) {
    if (begin == 5) std::exit(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

TEST_F(Parallel, the_process_can_exit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        visits(1000, 1);
        std::exit(4);
      },
      testing::ExitedWithCode(4), "");
  EXPECT_EXIT(exit_from_a_piece(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace assay
