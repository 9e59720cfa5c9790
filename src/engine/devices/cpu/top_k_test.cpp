#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/rows/best_elements.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

// Numbers of which many are equal, and some NaN or infinite.
double any_number(size_t i) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const uint64_t drawn = (i + 1) * 0x9E3779B97F4A7C15U >> 40;
  if (drawn % 50 == 0) return std::numeric_limits<double>::quiet_NaN();
  if (drawn % 50 < 3) return drawn % 50 == 1 ? kInfinity : -kInfinity;
  return static_cast<double>(drawn / 50 % 2000) / 4;
}
double nothing(size_t) { return std::numeric_limits<double>::quiet_NaN(); }
double equal(size_t) { return 1; }
double few_numbers(size_t i) { return static_cast<double>(i * 7919 % 5); }
double whole_number(size_t i) { return std::floor(testing_support::sine(i) * 500); }

void expect_best(const std::string& type, const std::string& dims, int64_t k, const std::string& facts,
                 const std::function<double(size_t)>& number) {
  const std::string text = fmt::format(
      "g ({0}[{1}] x) => ({0} y, int64 i) <int64[1] k = {{{2}}}> {{ y, i = TopK{3}(x, k) }}", type, dims, k, facts);
  const ir::Model model = parsed("<ir_version: 9, opset_import: [\"\" : 18]> " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  ASSERT_EQ(run.tactics, std::vector<std::string>{"top_k.rows"}) << text;
  ASSERT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << text;
}

TEST(TopK, RowsOfAnyLength) {
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    const ThreadPool pool(1 + static_cast<unsigned>(random() % 3));
    const PoolScope scope(pool);
    const int64_t length = 1 + static_cast<int64_t>(random() % (round % 2 == 0 ? 40 : 6000));
    const int64_t k = std::min<int64_t>(length, 1 + static_cast<int64_t>(random() % (round % 3 == 0 ? 400 : 20)));
    const std::string dims = fmt::format("{},{}", 1 + random() % 9, length);
    const std::string facts = fmt::format("<largest = {}, sorted = {}>", random() % 2, random() % 2);
    expect_best("float", dims, k, facts, any_number);
    expect_best("int64", dims, k, facts, whole_number);
    if (round % 10 != 0) continue;
    expect_best("float", dims, k, facts, nothing);
    expect_best("float", dims, k, facts, equal);
    expect_best("int64", dims, k, facts, few_numbers);
  }
}

// Of the elements, those that a bound of 120 leaves and two that equal it are collected, and some others that equal it.
void expect_collected(const std::vector<float>& x, bool is_largest, const std::vector<int32_t>& places) {
  std::vector<int32_t> wanted;
  int equals = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool is_worse = is_largest ? x[i] < 120 : x[i] > 120;
    if (!is_worse && (x[i] != 120 || equals++ < 2)) wanted.push_back(static_cast<int32_t>(i));
    EXPECT_FALSE(is_worse && std::ranges::binary_search(places, static_cast<int32_t>(i)));
  }
  EXPECT_TRUE(std::ranges::includes(places, wanted));
  EXPECT_LT(places.size(), x.size() / 2 + wanted.size());
}

TEST(BestElements, EverySet) {
  std::vector<float> x(601);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::floor(any_number(i) / 60) * 60);
  for (const BestElements* const set : all_best_elements()) {
    for (const bool is_largest : {true, false}) {
      const BestOf<float>& loops = is_largest ? set->largest : set->smallest;
      std::vector<int32_t> places(x.size());
      places.resize(loops.collect(x.data(), x.size(), 120, 2, places.data()));
      expect_collected(x, is_largest, places);
      std::vector<float> kept(x.begin(), x.begin() + 300);
      loops.keep(kept.data(), x.data() + 300, 299);
      for (size_t i = 0; i < kept.size(); ++i) {
        const float a = x[i], b = i < 299 ? x[300 + i] : a;
        const float greater = std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
        const float best = is_largest ? greater : std::fmin(a, b);
        EXPECT_TRUE(kept[i] == best || (std::isnan(kept[i]) && std::isnan(best))) << set->name << i;
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
