#include "compare/allowance.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay::compare {
namespace {

using tensor::DType;

constexpr float kBoundless = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

tensor::Tensor allowed_floats(const std::vector<float>& values) {
  return tensor::make_tensor<float>(DType::float32, {static_cast<int64_t>(values.size())}, values);
}

results::Judgement judge(const std::vector<float>& a, const std::vector<float>& b, const Allowance& allowance,
                         results::PairMetrics& metrics) {
  return judge_allowed(allowed_floats(a), allowed_floats(b), allowance, metrics);
}

TEST(Allowed, each_element_has_its_own_bound) {
  results::PairMetrics metrics;
  EXPECT_TRUE(judge({1, 2, 3}, {1.5, 2, 3.25}, {.of_elements = {0.5, 0, 1}}, metrics).passed);
  EXPECT_EQ(metrics.failed_count, 0U);
  const results::Judgement judgement = judge({1, 2, 3}, {1.5, 2.25, 3.25}, {.of_elements = {0.5, 0.125, 1}}, metrics);
  EXPECT_FALSE(judgement.passed);
  EXPECT_EQ(judgement.atol, 0.125);
  EXPECT_EQ(judgement.notes, (std::vector<std::string>{"At (1) the difference is 0.25; allowed is 0.125"}));
  EXPECT_EQ(metrics.failed_count, 1U);
  EXPECT_EQ(metrics.first_failed_at, (std::vector<int64_t>{1}));
}

// The element that is printed is the one closest to its allowance, and not the one that differs most.
TEST(Allowed, the_worst_element_is_told_with_its_own_allowance) {
  results::PairMetrics metrics;
  metrics.absolute.greatest = 0.75;
  const results::Judgement judgement = judge({1, 2}, {1.75, 2.25}, {.of_elements = {1, 0.3125}}, metrics);
  EXPECT_TRUE(judgement.passed);
  EXPECT_EQ(judgement.atol, 0.3125);
  EXPECT_EQ(judgement.required_abs, 0.25);
}

TEST(Allowed, numbers_that_are_none_are_equal_to_themselves_alone) {
  results::PairMetrics metrics;
  const Allowance allowance{.of_elements = {kBoundless, 1, 1}};
  EXPECT_TRUE(judge({1, kNan, kBoundless}, {9, kNan, kBoundless}, allowance, metrics).passed);
  EXPECT_FALSE(judge({kNan, 1, 1}, {1, 1, 1}, allowance, metrics).passed);
  EXPECT_FALSE(judge({1, 1, kBoundless}, {1, 1, -kBoundless}, allowance, metrics).passed);
}

TEST(Allowed, few_may_be_beyond_where_some_flip) {
  results::PairMetrics metrics;
  EXPECT_TRUE(judge({1, 2, 3}, {1, 2, 4}, {.of_elements = {0, 0, 0}, .may_be_beyond = 1}, metrics).passed);
  EXPECT_FALSE(judge({1, 2, 3}, {1, 3, 4}, {.of_elements = {0, 0, 0}, .may_be_beyond = 1}, metrics).passed);
}

TEST(Allowed, what_is_beyond_is_so_within_a_bound) {
  results::PairMetrics metrics;
  const Allowance allowance{.of_elements = {0, 0, 0}, .may_be_beyond = 1, .furthest = 2};
  EXPECT_TRUE(judge({1, 2, 3}, {1, 2, 5}, allowance, metrics).passed);
  EXPECT_FALSE(judge({1, 2, 3}, {1, 2, 1000}, allowance, metrics).passed);
}

TEST(Allowed, at_the_edge_of_a_type_infinity_is_its_largest_number) {
  results::PairMetrics metrics;
  const Allowance allowance{.of_elements = {1, 1}, .edge = 65504};
  EXPECT_TRUE(judge({-65504, 1}, {-kBoundless, 1}, allowance, metrics).passed);
  EXPECT_FALSE(judge({0.5, 1}, {-kBoundless, 1}, allowance, metrics).passed);
  EXPECT_FALSE(judge({kBoundless, 1}, {-kBoundless, 1}, allowance, metrics).passed);
}

TEST(Allowed, small_differences_everywhere_are_too_many_together) {
  results::PairMetrics metrics;
  const std::vector<float> a(100, 1);
  const std::vector<float> b(100, 1.5);
  Allowance allowance{.of_elements = std::vector<float>(100, 1)};
  EXPECT_TRUE(judge(a, b, allowance, metrics).passed);
  allowance.rms = 0.25;
  const results::Judgement judgement = judge(a, b, allowance, metrics);
  EXPECT_FALSE(judgement.passed);
  EXPECT_EQ(judgement.notes.size(), 1U);
  EXPECT_EQ(metrics.failed_count, 0U);
}

TEST(Allowed, integers_are_exact) {
  results::PairMetrics metrics;
  const std::vector<int64_t> large = {(int64_t{1} << 62) + 1};
  const std::vector<int64_t> next = {int64_t{1} << 62};
  const auto of = [](const std::vector<int64_t>& values) {
    return tensor::make_tensor<int64_t>(DType::int64, {1}, values);
  };
  EXPECT_TRUE(judge_allowed(of(large), of(large), {.of_elements = {0}}, metrics).passed);
  EXPECT_FALSE(judge_allowed(of(large), of(next), {.of_elements = {0}}, metrics).passed);
}

}  // namespace
}  // namespace assay::compare
