#include "engine/lowering/batch_norm.h"

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "passes/pipelines.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

double part(size_t i) { return static_cast<double>(i % 7) / 4 - 0.75; }

// The steps that a normalisation of two pictures side by side takes.
size_t steps_of(const std::string& body, const std::string& outputs = "float y") {
  const ir::Model model = testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,3,4,4] x, float[5] given) => ({}) <float[2,3,1,1] w = "
      "{{1,-2,3,4,-5,6}}, float[3,3,1,1] v = {{1,2,3,-4,5,6,7,-8,9}}, float[5] s = {{1,-2,3,0.5,4}}, float[5] b = "
      "{{5,4,3,2,1}}, float[5] m = {{0.1,0.2,-0.3,0.4,0.5}}, float[5] n = {{1,4,9,0.25,2}}, float[8] s8 = "
      "{{1,2,3,4,5,6,7,8}}> {{ a = Conv(x, w) c = Conv(x, v) {} }}",
      outputs, body));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  passes::Pipeline(changed, rewriter, {}).run(std::array{divide_batch_normalization()});
  const auto expected = testing_support::run_on_reference(model, part);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, part), expected, 1e-5), "") << body;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, part).outputs, expected, 1e-5), "")
      << body;
  return rewriter.steps().size();
}

TEST(DividedBatchNormalization, OfConvolutionsThatAreJoined) {
  EXPECT_EQ(steps_of("j = Concat<axis = 1>(a, c) t = BatchNormalization(j, s, b, m, n) y = Relu(t)"), 1u);
  EXPECT_EQ(steps_of("j = Concat<axis = -3>(c, a) y = BatchNormalization<epsilon = 0.5>(j, s, b, m, n)"), 1u);
}

TEST(DividedBatchNormalization, LeavesOthersAlone) {
  EXPECT_EQ(steps_of("j = Concat<axis = 1>(a, c) y = BatchNormalization(j, given, b, m, n)"), 0u);
  EXPECT_EQ(steps_of("j = Concat<axis = 1>(a, c) y = BatchNormalization(j, s, b, m, n) z = Neg(j)", "float y, float z"),
            0u);
  EXPECT_EQ(steps_of("j = Concat<axis = 1>(a, c) y = BatchNormalization(j, s, b, m, n) z = Neg(a)", "float y, float z"),
            0u);
  EXPECT_EQ(steps_of("j = Concat<axis = 1>(a, c, x) y = BatchNormalization(j, s8, s8, s8, s8)"), 0u);
  EXPECT_EQ(steps_of("j = Concat<axis = 1>(a, x) y = BatchNormalization(j, s, b, m, n)"), 0u);
}

}  // namespace
}  // namespace assay::engine
