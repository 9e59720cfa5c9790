#include "match/models/sequence.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace assay::match {
namespace {

size_t longest_common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[a.size()][b.size()];
}

std::vector<uint64_t> random_words(std::mt19937& random, size_t most, uint64_t alphabet) {
  std::vector<uint64_t> words(random() % (most + 1));
  for (uint64_t& word : words) word = random() % alphabet;
  return words;
}

TEST(CommonSubsequence, is_as_long_as_dynamic_programming_finds) {
  std::mt19937 random(17);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<uint64_t> a = random_words(random, 12, 1 + round % 5);
    const std::vector<uint64_t> b = random_words(random, 12, 1 + round % 5);
    const std::vector<std::pair<size_t, size_t>> pairs = common_subsequence(a, b);
    ASSERT_EQ(pairs.size(), longest_common(a, b)) << "round " << round;
    for (size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(a.at(pairs[i].first), b.at(pairs[i].second));
      if (i == 0) continue;
      ASSERT_LT(pairs[i - 1].first, pairs[i].first);
      ASSERT_LT(pairs[i - 1].second, pairs[i].second);
    }
  }
}

TEST(CommonSubsequence, gives_up_where_nearly_everything_differs) {
  std::vector<uint64_t> a(5000, 1);
  std::vector<uint64_t> b(5000, 2);
  EXPECT_TRUE(common_subsequence(a, b).empty());
}

TEST(IncreasingSubsequence, is_the_longest) {
  std::mt19937 random(18);
  for (int round = 0; round < 2000; ++round) {
    std::vector<size_t> values(random() % 12);
    for (size_t& value : values) value = random() % 12;
    std::vector<size_t> best(values.size(), 1);
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t j = 0; j < i; ++j) best[i] = values[j] < values[i] ? std::max(best[i], best[j] + 1) : best[i];
    }
    const std::vector<size_t> found = increasing_subsequence(values);
    ASSERT_EQ(found.size(), values.empty() ? 0 : std::ranges::max(best)) << "round " << round;
    for (size_t i = 1; i < found.size(); ++i) {
      ASSERT_LT(found[i - 1], found[i]);
      ASSERT_LT(values[found[i - 1]], values[found[i]]);
    }
  }
}

}  // namespace
}  // namespace assay::match
