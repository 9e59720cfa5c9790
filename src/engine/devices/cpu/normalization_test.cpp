#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

double row_sine(size_t i) { return 3 * std::sin(static_cast<double>(i) + 1); }

TEST(Normalization, RmsThatIsWrittenOut) {
  for (const int width : {1, 3, 16, 45}) {
    for (const char* const end : {"i = Reciprocal(r) y = Mul(i, x)", "y = Div(x, r)",
                                  "i = Reciprocal(r) n = Mul(x, i) y = Mul(s, n)", "n = Div(x, r) y = Mul(n, s)"}) {
      const std::string text = fmt::format(
          "<ir_version: 10, opset_import: [\"\" : 17]> g (float[2,5,{0}] x, float[{0}] s) => (float[2,5,{0}] y) "
          "<float two = {{2}}, float e = {{0.01}}> {{ p = Pow(x, two) m = ReduceMean<axes = [-1]>(p) a = Add(m, e) "
          "r = Sqrt(a) {1} }}",
          width, end);
      const ir::Model model = testing_support::parsed(text);
      const testing_support::EngineRun run = testing_support::run_on_engine(model, row_sine);
      EXPECT_EQ(run.tactics, std::vector<std::string>{"normalization.rows"}) << text;
      EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, row_sine), 1e-5), "")
          << text;
    }
  }
}

// Factors and shifts may be views: one number for all, or every other one.
TEST(Normalization, NumbersOfChannelsThatAreViews) {
  for (const char* const op : {"InstanceNormalization", "GroupNormalization<num_groups = 2>"}) {
    const std::string text = fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,6,5,4] x, float[1] s, float[12] t) => "
        "(float[2,6,5,4] y) <int64[1] six = {{6}}, int64[1] zero = {{0}}, int64[1] all = {{12}}, int64[1] two = {{2}}> "
        "{{ e = Expand(s, six) f = Slice(t, zero, all, zero, two) y = {}(x, e, f) }}",
        op);
    const ir::Model model = testing_support::parsed(text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, row_sine);
    EXPECT_EQ(run.tactics, (std::vector<std::string>{"copy", "copy", "normalization.channels"})) << text;
    EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, row_sine), 1e-5), "")
        << text;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
