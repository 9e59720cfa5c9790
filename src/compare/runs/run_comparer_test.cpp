#include "compare/runs/run_comparer.h"

#include <gtest/gtest.h>

#include "compare/runs/compare_saved.h"

namespace assay::compare {
namespace {

using tensor::Datum;
using tensor::NamedData;

Datum output_floats(std::vector<float> values) {
  return tensor::make_tensor<float>(tensor::DType::float32, {static_cast<int64_t>(values.size())}, values);
}

results::PairComparison compare(const NamedData& a, const NamedData& b, const CompareOptions& options = {}) {
  const NamedData* first[] = {&a};
  const NamedData* second[] = {&b};
  return compare_saved(first, second, options);
}

TEST(RunComparer, pairs_by_name_in_the_order_of_the_first_run) {
  const results::PairComparison pair = compare({{"x", output_floats({1})}, {"y", output_floats({2})}},
                                               {{"y", output_floats({2})}, {"x", output_floats({1})}});
  ASSERT_EQ(pair.iterations.size(), 1U);
  ASSERT_EQ(pair.iterations[0].outputs.size(), 2U);
  EXPECT_EQ(pair.iterations[0].outputs[0].name_a, "x");
  EXPECT_EQ(pair.iterations[0].outputs[1].name_a, "y");
  EXPECT_EQ(pair.verdict, results::Verdict::equal);
  EXPECT_EQ(pair.passed_count, 1U);
}

TEST(RunComparer, a_difference_beyond_both_tolerances_fails) {
  const results::PairComparison pair = compare({{"x", output_floats({1, 2})}}, {{"x", output_floats({1, 2.1F})}});
  EXPECT_EQ(pair.verdict, results::Verdict::different);
  ASSERT_TRUE(pair.iterations[0].outputs[0].metrics.has_value());
  EXPECT_EQ(pair.iterations[0].outputs[0].metrics->failed_count, 1U);
}

TEST(RunComparer, empty_sequences_are_equal_to_each_other_only) {
  const Datum empty = Datum::sequence({});
  const Datum full = Datum::sequence({output_floats({1})});
  EXPECT_EQ(compare({{"s", empty}}, {{"s", empty}}).verdict, results::Verdict::equal);
  EXPECT_EQ(compare({{"s", empty}}, {{"s", full}}).verdict, results::Verdict::different);
  EXPECT_EQ(compare({{"s", empty}}, {{"s", output_floats({1})}}).verdict, results::Verdict::different);
  EXPECT_EQ(compare({{"s", empty}}, {{"s", Datum()}}).verdict, results::Verdict::different);
}

TEST(RunComparer, missing_and_extra_outputs_fail) {
  const results::PairComparison pair = compare({{"x", output_floats({1})}, {"gone", output_floats({1})}},
                                               {{"x", output_floats({1})}, {"new", output_floats({1})}});
  EXPECT_EQ(pair.verdict, results::Verdict::different);
  EXPECT_EQ(pair.iterations[0].missing, std::vector<std::string>{"gone"});
  EXPECT_EQ(pair.iterations[0].extra, std::vector<std::string>{"new"});
}

TEST(RunComparer, substrings_and_positions_pair_nothing) {
  const results::PairComparison pair = compare({{"logits", output_floats({1})}}, {{"logits_2", output_floats({1})}});
  EXPECT_EQ(pair.iterations[0].outputs.size(), 0U);
  EXPECT_EQ(pair.verdict, results::Verdict::different);
}

TEST(RunComparer, values_that_are_only_exposed_may_lack_a_partner) {
  CompareOptions options;
  options.is_essential = [](std::string_view name) { return name == "x"; };
  const NamedData a = {{"x", output_floats({1})}, {"inner", output_floats({5})}};
  const results::PairComparison pair = compare(a, {{"x", output_floats({1})}}, options);
  EXPECT_EQ(pair.verdict, results::Verdict::equal);
  EXPECT_EQ(pair.iterations[0].unpaired, std::vector<std::string>{"inner"});
  options.strict_outputs = true;
  EXPECT_EQ(compare(a, {{"x", output_floats({1})}}, options).verdict, results::Verdict::different);
}

TEST(RunComparer, explicit_matches_rename_and_block_the_old_pairing) {
  CompareOptions options;
  options.matches = {{"x", "renamed"}};
  const results::PairComparison pair =
      compare({{"x", output_floats({1})}}, {{"x", output_floats({9})}, {"renamed", output_floats({1})}}, options);
  ASSERT_EQ(pair.iterations[0].outputs.size(), 1U);
  EXPECT_EQ(pair.iterations[0].outputs[0].name_b, "renamed");
  EXPECT_EQ(pair.iterations[0].outputs[0].match, "--match");
  EXPECT_EQ(pair.iterations[0].extra, std::vector<std::string>{"x"});
}

TEST(RunComparer, order_pairs_what_names_left_over) {
  CompareOptions options;
  options.match_by = MatchBy::order;
  const NamedData a = {{"p", output_floats({1})}, {"x", output_floats({3})}, {"q", output_floats({2})}};
  const NamedData b = {{"r", output_floats({1})}, {"s", output_floats({2})}, {"x", output_floats({3})}};
  const results::PairComparison pair = compare(a, b, options);
  EXPECT_EQ(pair.verdict, results::Verdict::equal);
  EXPECT_EQ(pair.iterations[0].outputs[2].name_b, "s");
  EXPECT_EQ(pair.iterations[0].outputs[2].match, "order");
}

TEST(RunComparer, value_pairs_the_nearest_of_the_same_shape) {
  CompareOptions options;
  options.match_by = MatchBy::value;
  const NamedData a = {{"p", output_floats({1, 2})}, {"q", output_floats({5, 6})}};
  const NamedData b = {{"r", output_floats({5, 6})}, {"s", output_floats({1, 2})}, {"t", output_floats({1})}};
  const results::PairComparison pair = compare(a, b, options);
  ASSERT_EQ(pair.iterations[0].outputs.size(), 2U);
  EXPECT_EQ(pair.iterations[0].outputs[0].name_b, "s");
  EXPECT_EQ(pair.iterations[0].outputs[1].name_b, "r");
  EXPECT_EQ(pair.iterations[0].extra, std::vector<std::string>{"t"});
}

TEST(RunComparer, value_pairs_nothing_that_is_far_apart) {
  CompareOptions options;
  options.match_by = MatchBy::value;
  const results::PairComparison pair =
      compare({{"p", output_floats({1, 2})}}, {{"r", output_floats({1.5, 3})}}, options);
  EXPECT_TRUE(pair.iterations[0].outputs.empty());
  EXPECT_EQ(pair.iterations[0].missing, std::vector<std::string>{"p"});
}

TEST(RunComparer, shapes_that_differ_are_a_fault_unless_they_are_matched) {
  const Datum row = output_floats({1, 2});
  const Datum column = tensor::make_tensor<float>(tensor::DType::float32, {2, 1}, std::vector<float>{1, 2});
  const results::PairComparison pair = compare({{"x", row}}, {{"x", column}});
  EXPECT_EQ(pair.iterations[0].outputs[0].fault, "shapes");
  EXPECT_EQ(pair.verdict, results::Verdict::different);
  CompareOptions options;
  options.check_shapes = false;
  EXPECT_EQ(compare({{"x", row}}, {{"x", column}}, options).verdict, results::Verdict::equal);
}

TEST(RunComparer, sequences_are_compared_item_by_item) {
  const Datum two = Datum::sequence({output_floats({1}), output_floats({2})});
  const Datum three = Datum::sequence({output_floats({1}), output_floats({2}), output_floats({3})});
  EXPECT_EQ(compare({{"s", two}}, {{"s", two}}).iterations[0].outputs[1].name_a, "s[1]");
  EXPECT_EQ(compare({{"s", two}}, {{"s", three}}).iterations[0].extra, std::vector<std::string>{"s[2]"});
}

TEST(RunComparer, iterations_that_one_side_lacks_make_a_difference) {
  const NamedData data = {{"x", output_floats({1})}};
  const NamedData* two[] = {&data, &data};
  const NamedData* one[] = {&data};
  const results::PairComparison pair = compare_saved(two, one, {});
  EXPECT_EQ(pair.iterations_a, 2U);
  EXPECT_EQ(pair.iterations_b, 1U);
  EXPECT_EQ(pair.passed_count, 1U);
  EXPECT_EQ(pair.verdict, results::Verdict::different);
}

TEST(RunComparer, nothing_to_compare_is_undecided) {
  EXPECT_EQ(compare_saved({}, {}, {}).verdict, results::Verdict::undecided);
  EXPECT_EQ(compare({}, {}).verdict, results::Verdict::undecided);
}

TEST(RunComparer, fail_fast_stops_behind_the_first_failure) {
  CompareOptions options;
  options.fail_fast = true;
  const results::PairComparison pair =
      compare({{"x", output_floats({1})}, {"y", output_floats({1})}, {"z", output_floats({1})}},
              {{"x", output_floats({1})}, {"y", output_floats({2})}, {"z", output_floats({3})}}, options);
  EXPECT_EQ(pair.iterations[0].outputs.size(), 2U);
  EXPECT_TRUE(pair.stopped);
  EXPECT_TRUE(pair.iterations[0].missing.empty());
}

TEST(PerOutput, names_beat_wildcards_and_those_the_default) {
  PerOutput<double> setting(1);
  setting.set("", 2);
  setting.set("y*", 3);
  setting.set("y1", 4);
  EXPECT_EQ(setting.of("x"), 2);
  EXPECT_EQ(setting.of("y2"), 3);
  EXPECT_EQ(setting.of("y1"), 4);
}

}  // namespace
}  // namespace assay::compare
