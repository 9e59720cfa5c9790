#include "formats/combine.h"

#include <gtest/gtest.h>

#include "support/data_files.h"

namespace assay::formats {
namespace {

using namespace testing_support;

TEST(Combine, merging_puts_arrays_together_iteration_by_iteration) {
  const MergedData merged = merge_data({{"a", kTwoInputs}, {"b", kTwoResults}});
  EXPECT_TRUE(merged.warnings.empty());
  EXPECT_TRUE(is_same(merged.inputs,
                      {{array("x", 1), array("y", 2), array("z", 5)}, {array("x", 3), array("y", 4), array("z", 6)}}));
}

TEST(Combine, a_later_array_of_the_same_name_is_taken_and_said_once) {
  const SavedInputs other = {{array("x", 7)}, {array("x", 8)}};
  const MergedData merged = merge_data({{"a", kTwoInputs}, {"b", other}});
  EXPECT_TRUE(is_same(merged.inputs, {{array("x", 7), array("y", 2)}, {array("x", 8), array("y", 4)}}));
  ASSERT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merged.warnings[0], "Overwriting input 'x' while merging data from b.");
}

TEST(Combine, every_runner_adds_its_outputs) {
  const SavedRuns two = {kTwoResults[0], {"s", {{{array("w", 9)}, {}, "s"}, {{array("w", 10)}, {}, "s"}}}};
  const MergedData merged = merge_data({{"a", two}});
  EXPECT_TRUE(is_same(merged.inputs, {{array("z", 5), array("w", 9)}, {array("z", 6), array("w", 10)}}));
}

TEST(Combine, different_numbers_of_iterations_are_said) {
  const MergedData merged = merge_data({{"a", kTwoInputs}, {"b", SavedInputs{{array("z", 1)}}}});
  EXPECT_TRUE(is_same(merged.inputs, {{array("x", 1), array("y", 2), array("z", 1)}, kTwoInputs[1]}));
  EXPECT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merge_data({{"b", SavedInputs{{array("z", 1)}}}, {"a", kTwoInputs}}).warnings.size(), 1u);
  EXPECT_EQ(merge_data({{"b", SavedInputs{}}, {"a", kTwoInputs}}).warnings.size(), 1u);
}

TEST(Combine, concatenating_inputs) {
  const JoinedData joined = concat_data({{"a", kTwoInputs}, {"b", SavedInputs{kTwoInputs[0]}}});
  EXPECT_TRUE(joined.warnings.empty());
  EXPECT_TRUE(is_same(std::get<SavedInputs>(joined.data), {kTwoInputs[0], kTwoInputs[1], kTwoInputs[0]}));
  EXPECT_EQ(concat_data({{"a", kTwoInputs}, {"b", SavedInputs{{array("q", 1)}}}}).warnings.size(), 1u);
  EXPECT_THROW(concat_data({{"a", kTwoInputs}, {"b", kTwoResults}}), Error);
}

TEST(Combine, concatenating_results_runner_by_runner) {
  const SavedRuns twice = {kTwoResults[0], kTwoResults[0]};
  SavedData data = concat_data({{"a", twice}, {"b", twice}}).data;
  EXPECT_EQ(std::get<SavedRuns>(data)[0].iterations.size(), 4u);
  EXPECT_EQ(std::get<SavedRuns>(data)[1].iterations.size(), 4u);
  const JoinedData joined = concat_data({{"a", kTwoResults}, {"b", SavedRuns{{"other", kTwoResults[0].iterations}}}});
  EXPECT_EQ(std::get<SavedRuns>(joined.data).size(), 2u);
  EXPECT_EQ(joined.warnings.size(), 1u);
}

}  // namespace
}  // namespace assay::formats
