#include "compare/judge.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "compare/measure.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Tensor;

Tensor judged_floats(std::vector<float> elements) {
  return tensor::make_tensor<float>(DType::float32, {static_cast<int64_t>(elements.size())}, elements);
}
Tensor indices(tensor::Shape shape, std::vector<int64_t> elements) {
  return tensor::make_tensor<int64_t>(DType::int64, std::move(shape), elements);
}

constexpr ErrorStatistic kAll[] = {ErrorStatistic::elementwise, ErrorStatistic::max, ErrorStatistic::mean,
                                   ErrorStatistic::median, ErrorStatistic::quantile};

bool passes(const Tensor& a, const Tensor& b, SimpleBounds bounds) {
  const MeasureOptions options = {
      .atol = bounds.atol, .rtol = bounds.rtol, .percentiles = true, .quantile = bounds.quantile};
  return judge_simple(measure(a, b, options), bounds).passed;
}

TEST(Judge, TolerancesAreInclusive) {
  const Tensor a = judged_floats({1.5F});
  const Tensor b = judged_floats({1});
  for (const ErrorStatistic statistic : kAll) {
    EXPECT_TRUE(passes(a, b, {statistic, 0.5, 0})) << word(statistic);
    EXPECT_TRUE(passes(a, b, {statistic, 0, 0.5})) << word(statistic);
    EXPECT_FALSE(passes(a, b, {statistic, 0.4999, 0.4999})) << word(statistic);
  }
}

TEST(Judge, OneToleranceIsEnoughForEachElement) {
  const Tensor a = judged_floats({100.5F, 0.01F});
  const Tensor b = judged_floats({100, 0});
  EXPECT_TRUE(passes(a, b, {ErrorStatistic::elementwise, 0.02, 0.01}));
  EXPECT_FALSE(passes(a, b, {ErrorStatistic::max, 0.02, 0.01}));
}

TEST(Judge, NanFailsByAnyStatistic) {
  for (const ErrorStatistic statistic : kAll) {
    EXPECT_FALSE(passes(judged_floats({NAN, 1}), judged_floats({NAN, 1}), {statistic, 1e9, 1e9})) << word(statistic);
  }
}

TEST(Judge, NothingDiffersInEmptyArrays) {
  for (const ErrorStatistic statistic : kAll)
    EXPECT_TRUE(passes(judged_floats({}), judged_floats({}), {statistic, 0, 0}));
}

TEST(Judge, AShareMayFail) {
  SimpleBounds bounds = {ErrorStatistic::elementwise, 0, 0, 0.99, 0.25};
  EXPECT_TRUE(passes(judged_floats({1, 2, 3, 5}), judged_floats({1, 2, 3, 4}), bounds));
  bounds.allowed_share = 0.24;
  EXPECT_FALSE(passes(judged_floats({1, 2, 3, 5}), judged_floats({1, 2, 3, 4}), bounds));
}

TEST(Judge, RequiredTolerances) {
  const results::PairMetrics metrics = measure(judged_floats({1, 2}), judged_floats({1, 4}), {});
  const results::Judgement judgement = judge_simple(metrics, {});
  EXPECT_EQ(judgement.function, "simple");
  EXPECT_EQ(judgement.statistic, "elemwise");
  EXPECT_EQ(judgement.required_abs, 2);
  EXPECT_EQ(judgement.required_rel, 0.5);
}

TEST(Judge, Distances) {
  const results::PairMetrics metrics = measure(judged_floats({3, 4}), judged_floats({3, 4.5F}), {});
  EXPECT_TRUE(judge_l2(metrics, 0.5).passed);
  EXPECT_FALSE(judge_l2(metrics, 0.49).passed);
  EXPECT_TRUE(judge_cosine(metrics, 0.99).passed);
  EXPECT_FALSE(judge_cosine(metrics, 1).passed);
  EXPECT_TRUE(judge_psnr(metrics, 20).passed);
  EXPECT_FALSE(judge_snr(metrics, 40).passed);
  const results::PairMetrics nan = measure(judged_floats({NAN}), judged_floats({1}), {});
  EXPECT_FALSE(judge_l2(nan, 1e9).passed);
  EXPECT_FALSE(judge_cosine(nan, -1).passed);
  EXPECT_FALSE(judge_psnr(nan, -1e9).passed);
  EXPECT_FALSE(judge_snr(nan, -1e9).passed);
  const results::PairMetrics none = measure(judged_floats({}), judged_floats({}), {});
  EXPECT_TRUE(judge_l2(none, 0).passed && judge_cosine(none, 1).passed);
  EXPECT_TRUE(judge_psnr(none, 30).passed && judge_snr(none, 20).passed);
}

TEST(Judge, StringsAreEqualByEveryFunctionOrByNone) {
  const tensor::Tensor a(tensor::DType::string, {2}, tensor::make_strings({"x", "y"}));
  const tensor::Tensor b(tensor::DType::string, {2}, tensor::make_strings({"x", "z"}));
  using enum ErrorStatistic;
  for (const ErrorStatistic statistic : {elementwise, max, mean, median, quantile}) {
    for (const std::string_view function : {"simple", "l2", "cosine_similarity", "psnr", "snr"}) {
      const SimpleBounds bounds = {.statistic = statistic, .atol = 10, .rtol = 10};
      EXPECT_FALSE(judge_strings(measure(a, b, {}), function, bounds).passed) << function;
      EXPECT_TRUE(judge_strings(measure(a, a, {}), function, bounds).passed) << function;
    }
  }
  EXPECT_TRUE(judge_strings(measure(a, b, {}), "simple", {.allowed_share = 0.5}).passed);
  EXPECT_FALSE(judge_strings(measure(a, b, {}), "simple", {.statistic = max, .allowed_share = 0.5}).passed);
  EXPECT_FALSE(judge_strings(measure(a, b, {}), "l2", {.allowed_share = 0.5}).passed);
}

TEST(JudgeIndices, PlacesMayDifferByTheTolerance) {
  EXPECT_TRUE(judge_indices(indices({3}, {1, 2, 3}), indices({3}, {1, 2, 3}), 0).passed);
  EXPECT_FALSE(judge_indices(indices({3}, {1, 3, 2}), indices({3}, {1, 2, 3}), 0).passed);
  EXPECT_TRUE(judge_indices(indices({3}, {1, 3, 2}), indices({3}, {1, 2, 3}), 1).passed);
  EXPECT_TRUE(
      judge_indices(indices({3}, {1, 2, 9}), indices({3}, {1, 2, 3}), 1).passed);  // the last one is not checked
  EXPECT_FALSE(judge_indices(indices({3}, {1, 2, 9}), indices({3}, {1, 2, 3}), 0).passed);
  EXPECT_TRUE(judge_indices(indices({2, 2}, {1, 2, 2, 1}), indices({2, 2}, {1, 2, 2, 1}), 0).passed);
  EXPECT_FALSE(judge_indices(indices({2, 2}, {1, 2, 2, 1}), indices({2, 2}, {1, 2, 1, 2}), 0).passed);
  EXPECT_TRUE(judge_indices(indices({}, {1}), indices({}, {1}), 0).passed);
  EXPECT_TRUE(judge_indices(indices({2, 0}, {}), indices({2, 0}, {}), 5).passed);
  EXPECT_THROW(judge_indices(indices({1}, {1}), indices({1, 1}, {1}), 0), Error);
}

TEST(JudgeIndices, NotesAreFew) {
  std::vector<int64_t> up(100000);
  std::iota(up.begin(), up.end(), 0);
  const std::vector<int64_t> down(up.rbegin(), up.rend());
  const results::Judgement judgement = judge_indices(indices({100000}, up), indices({100000}, down), 3);
  EXPECT_FALSE(judgement.passed);
  ASSERT_EQ(judgement.notes.size(), 11U);
  EXPECT_EQ(judgement.notes.back(), "... and 99983 more");
  EXPECT_EQ(judge_indices(indices({1}, {7}), indices({1}, {8}), 0).notes,
            std::vector<std::string>{"Value: 7 not found in output"});
}

}  // namespace
}  // namespace assay::compare
