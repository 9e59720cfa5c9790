#include "engine/program/memory_plan.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  const bool in_place = a.offset < b.offset + b.size_bytes && b.offset < a.offset + a.size_bytes;
  return in_time && in_place && a.size_bytes != 0 && b.size_bytes != 0;
}

TEST(PlanMemory, a_chain_takes_two_buffers) {
  std::vector<Lifetime> chain;
  for (size_t i = 0; i < 50; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(plan_memory(chain, 64), 2048u);
}

TEST(PlanMemory, what_lives_at_the_same_time_lies_apart) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::vector<Lifetime> values;
    for (size_t i = 0; i < 120; ++i) {
      const size_t first = random() % 60;
      values.push_back({random() % 5000, first, first + random() % 9});
    }
    const uint64_t size = plan_memory(values, 64);
    uint64_t most = 0;
    for (const Lifetime& a : values) {
      EXPECT_EQ(a.offset % 64, 0u);
      most = std::max(most, a.offset + a.size_bytes);
      for (const Lifetime& b : values) ASSERT_TRUE(&a == &b || !overlap(a, b)) << "seed " << seed;
    }
    EXPECT_LE(most, size);
    EXPECT_LT(size, most + 64);
  }
}

}  // namespace
}  // namespace assay::engine
