#include "convert/layers.h"

#include <gtest/gtest.h>

#include "calibrate/range.h"
#include "passes/pipelines.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"

namespace assay::convert {
namespace {

using testing_support::parsed;

constexpr const char* kThreeProducts = R"(net (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}>
  { [first] a = MatMul(x, w)  [second] b = MatMul(a, w)  [third] y = MatMul(b, w) })";

passes::Options options() {
  passes::Options options;
  for (const char* name : {"x", "a", "b", "y"}) options.of<calibrate::Ranges>()[name] = {-100, 100};
  return options;
}

// What a pass does within `most_steps`: each step, and why what comes after them stays.
std::vector<std::string> account(std::string_view pass, uint64_t most_steps) {
  ir::Model model = parsed(kThreeProducts);
  ir::Rewriter rewriter(model, most_steps);
  const passes::Options all = options();
  passes::Pipeline pipeline(model, rewriter, all);
  pipeline.run({&pass, 1});
  std::vector<std::string> lines;
  for (const ir::RewriteStep& step : rewriter.steps()) lines.push_back(rewriter.explain(step));
  for (const passes::Skipped& skipped : pipeline.skipped()) {
    lines.push_back(std::string(model[skipped.node].name) + ": " + skipped.reason);
  }
  return lines;
}

TEST(Layers, EachIsAStepOfItsOwn) {
  for (const auto& [pass, what] :
       {std::pair("to-float16", "compute with 16-bit floats"), std::pair("insert-qdq", "compute with integers"),
        std::pair("compress-weights", "compress its weight")}) {
    const std::vector<std::string> all = account(pass, 100);
    ASSERT_EQ(all.size(), 3u) << pass;
    EXPECT_EQ(all[1], fmt::format("step 2: {}: node `second` (MatMul)", what));
  }
}

TEST(Layers, NoneIsConvertedAfterTheLastStep) {
  for (const char* pass : {"to-float16", "insert-qdq", "compress-weights"}) {
    const std::vector<std::string> two = account(pass, 2);
    ASSERT_EQ(two.size(), 3u) << pass;
    EXPECT_EQ(two[2], "third: it comes after the last step") << pass;
    EXPECT_TRUE(account(pass, 0).empty()) << pass;
  }
}

TEST(Layers, AreChosenByNameByOperatorAndOneByOne) {
  const ir::Model model = parsed(kThreeProducts);
  std::vector<ir::NodeId> nodes;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) nodes.push_back(node);
  const LayerChoice choice = {
      .excluded = {"f*"}, .excluded_ops = {"ADD"}, .only_ops = {}, .kept = {{nodes[1], "it is dear"}}};
  Diagnostics findings;
  const LayerFilter filter(model, nodes, choice, findings);
  EXPECT_EQ(filter.refusal(nodes[0], "MatMul"), "excluded by name");
  EXPECT_EQ(filter.refusal(nodes[1], "MatMul"), "it is dear");
  EXPECT_EQ(filter.refusal(nodes[2], "MatMul"), "");
  EXPECT_EQ(filter.refusal(nodes[2], "Add"), "excluded by its operator");
}

}  // namespace
}  // namespace assay::convert
