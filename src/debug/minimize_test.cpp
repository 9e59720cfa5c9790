#include "debug/minimize.h"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "base/numpy_random.h"

namespace assay::debug {
namespace {

// A judge that counts: what holds all of `culprits` fails.
struct Judged {
  Subset result;
  uint64_t checks = 0;
  uint64_t rounds = 0;
};

template <typename Fails>
Judged search(uint32_t count, Fails&& fails, const MinimizeOptions& options = {}) {
  Judged judged;
  const auto judge = [&](std::span<const Subset> subsets, uint64_t) {
    ++judged.rounds;
    std::vector<Verdict> verdicts;
    for (const Subset& subset : subsets) {
      ++judged.checks;
      verdicts.push_back(fails(subset));
    }
    return verdicts;
  };
  judged.result = minimize(count, judge, options);
  return judged;
}

auto holds(Subset culprits) {
  return [culprits = std::move(culprits)](const Subset& subset) {
    return std::ranges::includes(subset, culprits) ? Verdict::fails : Verdict::passes;
  };
}

TEST(Minimize, OneCulpritIsFoundByHalving) {
  for (const uint32_t count : {1U, 2U, 5U, 200U, 2000U}) {
    for (const uint32_t culprit : {0U, count / 3, count / 2, count - 1}) {
      const Judged judged = search(count, holds({culprit}));
      EXPECT_EQ(judged.result, Subset{culprit});
      EXPECT_LE(judged.checks, std::bit_width(count) + 2U) << culprit << " of " << count;
    }
  }
}

TEST(Minimize, SeveralCulpritsAreFoundEachByHalving) {
  const Judged two = search(200, holds({17, 140}));
  EXPECT_EQ(two.result, (Subset{17, 140}));
  EXPECT_LE(two.checks, 2 * 9U + 3);
  EXPECT_EQ(search(200, holds({3, 4, 5, 150, 199})).result, (Subset{3, 4, 5, 150, 199}));
}

TEST(Minimize, NeighboursAreFoundAsOne) {
  for (const uint32_t at : {0U, 17U, 140U, 198U}) {
    const Judged judged = search(200, holds({at, at + 1}));
    EXPECT_EQ(judged.result, (Subset{at, at + 1}));
    EXPECT_LE(judged.checks, 8U + 3) << at;  // one search, both without the other, and both together
  }
}

TEST(Minimize, TheWholeIsJudgedOnlyWhereNothingElseFails) {
  const MinimizeOptions unknown = {.knows_whole_fails = false};
  const auto counting = [](Subset culprits, uint32_t& wholes) {
    return [culprits = std::move(culprits), &wholes](const Subset& subset) {
      wholes += subset.size() == 60 ? 1 : 0;
      return !culprits.empty() && std::ranges::includes(subset, culprits) ? Verdict::fails : Verdict::passes;
    };
  };
  uint32_t wholes = 0;
  EXPECT_EQ(search(60, counting({5, 30}, wholes), unknown).result, (Subset{5, 30}));
  EXPECT_EQ(wholes, 0U);
  EXPECT_EQ(search(60, counting({5, 59}, wholes), unknown).result, (Subset{5, 59}));
  EXPECT_EQ(wholes, 1U);
  const Judged none = search(60, counting({}, wholes), unknown);
  EXPECT_TRUE(none.result.empty());
  EXPECT_EQ(wholes, 2U);
  EXPECT_LE(none.checks, 9U);
  EXPECT_TRUE(search(1, holds({1}), unknown).result.empty());
}

TEST(Minimize, WhatIsLeftIsMinimalAlsoWhereFailuresComeAndGo) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    // Fails with any of several groups, and in between for no reason passes or cannot be judged.
    const auto drawn = [&](uint32_t salt, uint32_t below) { return (seed * 2654435761U + salt * 40503U) % below; };
    const auto fails = [&](const Subset& subset) {
      uint32_t mix = seed;
      for (const uint32_t item : subset) mix = mix * 31 + item;
      const bool has_one =
          std::ranges::binary_search(subset, drawn(1, 30)) && std::ranges::binary_search(subset, drawn(2, 30));
      const bool has_other = std::ranges::binary_search(subset, drawn(3, 30));
      if (subset.size() < 30 && mix % 5 == 0) return mix % 2 == 0 ? Verdict::passes : Verdict::unresolved;
      return has_one || has_other ? Verdict::fails : Verdict::passes;
    };
    const Judged judged = search(30, fails);
    EXPECT_EQ(fails(judged.result), Verdict::fails);
    for (const uint32_t item : judged.result) {
      Subset without = judged.result;
      std::erase(without, item);
      const Verdict verdict = without.empty() ? Verdict::passes : fails(without);
      EXPECT_NE(verdict, Verdict::fails) << "seed " << seed;
    }
  }
}

TEST(Minimize, SeveralAtATimeTakeFewerRounds) {
  const Judged alone = search(4096, holds({1234}));
  const Judged three = search(4096, holds({1234}), {.at_a_time = 3});
  EXPECT_EQ(three.result, alone.result);
  EXPECT_LE(three.rounds, alone.rounds / 2 + 2);
}

TEST(Minimize, LinearEndsAtTheFirstThatPasses) {
  const Judged judged = search(50, holds({40}), {.is_linear = true});
  EXPECT_EQ(judged.result, Subset{40});
  EXPECT_EQ(judged.checks, 11U);  // beginnings of 49 … 40, then the one alone
}

}  // namespace
}  // namespace assay::debug
