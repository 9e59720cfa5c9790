#include "debug/subgraph.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::debug {
namespace {

std::vector<std::string> names(const ir::Model& model, const std::vector<ir::ValueId>& values) {
  std::vector<std::string> found;
  for (const ir::ValueId value : values) found.emplace_back(model.text(model[value].name));
  return found;
}

std::vector<std::string> inputs_of(const ir::Model& model) { return names(model, model[model.main_graph()].inputs); }

std::vector<std::string> outputs_of(const ir::Model& model) {
  std::vector<ir::ValueId> values;
  for (const ir::Use& use : model.outputs(model.main_graph())) values.push_back(use.value);
  return names(model, values);
}

using Names = std::vector<std::string>;

ir::Model diamond() {
  return testing_support::parsed(
      "g (float[2] x, float[2] z) => (float[2] y) <float[2] a, float[2] b, float[2] c> "
      "{a = Neg(x) b = Abs(z) c = Add(a, b) y = Exp(c)}");
}

TEST(Subgraph, ValuesWhereItIsCutBecomeInputsAndOutputs) {
  const ir::Model model = diamond();
  const Parts parts(model);
  ASSERT_EQ(parts.count(), 4U);
  const ir::Model middle = subgraph(parts, {2}, {});
  EXPECT_EQ(inputs_of(middle), (Names{"a", "b"}));
  EXPECT_EQ(outputs_of(middle), (Names{"c"}));
  EXPECT_EQ(middle[middle.main_graph()].node_count, 1U);
  EXPECT_EQ(outputs_of(subgraph(parts, {0, 1}, {})), (Names{"a", "b"}));
  EXPECT_EQ(inputs_of(subgraph(parts, {0, 1, 2, 3}, {})), (Names{"x", "z"}));
}

TEST(Subgraph, WhatOtherBranchesGiveIsFrozen) {
  const ir::Model model = diamond();
  const std::vector<float> content = {1, 2};
  std::vector<std::string> frozen;
  const SubgraphOptions options = {
      .rule = CutRule::branches,
      .value_of = [&](ir::ValueId) -> std::optional<tensor::Datum> {
        return tensor::Datum(tensor::make_tensor(tensor::DType::float32, {2}, std::span<const float>(content)));
      },
      .on_frozen = [&](const std::string& name) { frozen.push_back(name); }};
  const ir::Model cut = subgraph(Parts(model), {1, 2, 3}, options);
  EXPECT_EQ(inputs_of(cut), (Names{"z"}));
  EXPECT_EQ(frozen, (Names{"a"}));
  EXPECT_EQ(outputs_of(cut), (Names{"y"}));
}

TEST(Subgraph, PartsKnowWhatTheyNeedAndWhatNeedsThem) {
  const ir::Model model = diamond();
  const Parts parts(model);
  EXPECT_EQ(parts.with_producers({2}), (Subset{0, 1, 2}));
  EXPECT_EQ(parts.with_users({1}), (Subset{1, 2, 3}));
}

}  // namespace
}  // namespace assay::debug
