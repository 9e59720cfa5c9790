#include "engine/lowering/gather_first.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double index(size_t i) { return static_cast<double>((i + 1) % 2); }

// The steps that keep what a model computes of rows of a table of five.
size_t steps_of(const std::string& body, const std::string& outputs = "float y") {
  const ir::Model model = testing_support::parsed(
      fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g (int64[2] i) => ({}) <int8[5,3] w = "
                  "{{1,-2,3,4,5,6,7,8,9,10,11,12,13,14,"
                  "15}}, float s = {{0.25}}, float[1] o = {{3}}, float[3] r = {{1,2,3}}> {{ {} }}",
                  outputs, body));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  gather_first(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, index);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, index), expected, 0), "") << body;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, index).outputs, expected, 0), "") << body;
  return rewriter.steps().size();
}

TEST(GatherFirst, OfConstantsOfWhichNumbersAreMade) {
  EXPECT_EQ(steps_of("c = Cast<to = 1>(w) y = Gather(c, i)"), 1u);
  EXPECT_EQ(steps_of("c = Cast<to = 1>(w) m = Mul(s, c) a = Sub(m, o) y = Gather(a, i)"), 1u);
  EXPECT_EQ(steps_of("c = Cast<to = 1>(w) m = Mul(c, s) y = Gather<axis = 1>(m, i)"), 1u);
}

TEST(GatherFirst, LeavesOthersAlone) {
  EXPECT_EQ(steps_of("c = Cast<to = 1>(w) m = Mul(c, r) y = Gather(m, i)"), 0u);
  EXPECT_EQ(steps_of("c = Cast<to = 1>(w) y = Gather(c, i) z = Neg(c)", "float y, float z"), 0u);
  EXPECT_EQ(steps_of("c = Cast<to = 1>(i) u = Mul(c, s) y = Gather(u, i)"), 0u);
  EXPECT_EQ(steps_of("c = Cast<to = 1>(w) k = Concat<axis = 0>(i, i, i, i) y = Gather(c, k)"), 0u);
}

}  // namespace
}  // namespace assay::engine
