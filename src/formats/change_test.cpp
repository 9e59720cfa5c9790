#include "formats/change.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/data_files.h"
#include "tensor/elements.h"

namespace assay::formats {
namespace {

using namespace testing_support;

SavedData changed(SavedData data, const DataChanges& changes) {
  std::vector<DataPart> parts = {{"file", std::move(data)}};
  change_data(parts, changes);
  return std::move(parts[0].data);
}
SavedInputs changed_inputs(const DataChanges& changes) { return std::get<SavedInputs>(changed(kTwoInputs, changes)); }

TEST(ChangeData, ChoosesARunner) {
  const SavedRuns two = {kTwoResults[0], {"s", {}}};
  EXPECT_EQ(std::get<SavedRuns>(changed(two, {.runner = "s*"})).size(), 1u);
  EXPECT_THROW(changed(two, {.runner = "t"}), Error);
  EXPECT_THROW(changed(kTwoInputs, {.runner = "r"}), Error);
}

TEST(ChangeData, SelectsAndDropsByNameAndWildcard) {
  EXPECT_TRUE(is_same(changed_inputs({.selected = {"x"}}), {{array("x", 1)}, {array("x", 3)}}));
  EXPECT_TRUE(is_same(changed_inputs({.dropped = {"x"}}), {{array("y", 2)}, {array("y", 4)}}));
  EXPECT_TRUE(is_same(changed_inputs({.selected = {"[xy]"}, .dropped = {"y*"}}), {{array("x", 1)}, {array("x", 3)}}));
  EXPECT_THROW(changed_inputs({.selected = {"z"}}), Error);
  EXPECT_THROW(changed_inputs({.dropped = {"z"}}), Error);
  EXPECT_THROW(changed_inputs({.dropped = {"*"}}), Error);
}

TEST(ChangeData, Renames) {
  EXPECT_EQ(changed_inputs({.renamed = {{"x", "q"}}})[1][0].name, "q");
  EXPECT_EQ(changed_inputs({.renamed = {{"x", "q"}, {"y", "x"}}})[0][1].name, "x");
  EXPECT_THROW(changed_inputs({.renamed = {{"z", "q"}}}), Error);
  EXPECT_THROW(changed_inputs({.renamed = {{"x", "y"}}}), Error);
  EXPECT_NO_THROW(changed_inputs({.renamed = {{"x", "x"}}}));
  const SavedRuns runs = std::get<SavedRuns>(changed(kTwoResults, {.renamed = {{"z", "a"}}}));
  EXPECT_EQ(runs[0].iterations[1].outputs[0].name, "a");
}

TEST(ChangeData, Casts) {
  const SavedInputs inputs = changed_inputs({.casts = {{"y", tensor::DType::float32}}});
  EXPECT_EQ(inputs[1][0].value.tensor().dtype(), tensor::DType::uint8);
  EXPECT_EQ(inputs[1][1].value.tensor().dtype(), tensor::DType::float32);
  EXPECT_EQ(tensor::load_elements<double>(inputs[1][1].value.tensor()), std::vector<double>{4});
  EXPECT_THROW(changed_inputs({.casts = {{"z", tensor::DType::float32}}}), Error);
  EXPECT_THROW(changed_inputs({.casts = {{"*", tensor::DType::string}}}), Error);
}

}  // namespace
}  // namespace assay::formats
