#include "engine/layers/spelled_hard_swish.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::parsed;

ir::Model lowered_swish(const std::string& nodes, const std::string& outputs = "float[64] y") {
  ir::Model model =
      parsed(fmt::format("<ir_version: 8, opset_import: [\"\" : 12]> g (float[64] x) => ({}) <float three "
                         "= {{3}}, float zero = {{0}}, float[1] six = {{6}}, float sixth = "
                         "{{0.16666667}}, float five = {{5}}> {{ {} }}",
                         outputs, nodes)
                 .c_str());
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  return model;
}

SpelledHardSwish swish_in(const ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  return match_hard_swish(*find_layer(model, inference, *ir::nodes(model, model.main_graph()).begin()), 0);
}

TEST(SpelledHardSwish, IsFoundHoweverItIsArranged) {
  for (const char* const text : {"a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)",
                                 "a = Add(three, x) c = Clip(a, zero, six) m = Mul(c, x) y = Mul(sixth, m)",
                                 "a = Add(x, three) c = Clip(a, zero, six) d = Div(c, six) y = Mul(x, d)",
                                 "a = Add(x, three) c = Clip(a, zero, six) d = Mul(c, sixth) y = Mul(d, x)"}) {
    const SpelledHardSwish found = swish_in(lowered_swish(text));
    EXPECT_EQ(found.nodes, 4U) << text;
    EXPECT_EQ(found.shift, 3) << text;
    EXPECT_EQ(found.most, 6) << text;
  }
}

TEST(SpelledHardSwish, IsNotFoundInWhatIsAlike) {
  for (const char* const text : {"a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, five)",
                                 "a = Add(x, three) c = Clip(a, three, six) m = Mul(x, c) y = Div(m, six)",
                                 "a = Add(x, three) c = Clip(a, zero) m = Mul(x, c) y = Div(m, six)",
                                 "a = Add(x, three) c = Clip(a, zero, six) m = Mul(c, c) y = Div(m, six)",
                                 "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(six, m)",
                                 "a = Sub(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)"}) {
    EXPECT_EQ(swish_in(lowered_swish(text)).nodes, 0U) << text;
  }
  const char* const kept = "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)";
  EXPECT_EQ(swish_in(lowered_swish(kept, "float[64] y, float[64] c")).nodes, 0U);
}

double from_minus_eight(size_t index) { return static_cast<double>(index) / 4 - 8; }

std::string swish_model(const std::string& nodes, const std::string& outputs = "float[64] y") {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[64] x) => ({}) <float three = {{3}}, float "
      "zero = {{0}}, float six = {{6}}> {{ {} }}",
      outputs, nodes);
}

TEST(SpelledHardSwish, IsComputedWithinRoundoff) {
  for (const char* const nodes : {"a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)",
                                  "a = Add(x, three) c = Clip(a, zero, six) d = Div(c, six) y = Mul(x, d)"}) {
    const ir::Model model = parsed(swish_model(nodes));
    EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, from_minus_eight).outputs,
                                          testing_support::run_on_reference(model, from_minus_eight), 1e-6),
              "");
  }
}

// A value that is given out keeps what computes it apart.
TEST(SpelledHardSwish, AHardSigmoidTimesItsOperandHasTheSameBits) {
  for (const char* const alpha : {"0.16666667", "0.2"}) {
    const std::string nodes = fmt::format("s = HardSigmoid<alpha = {}, beta = 0.5>(x) y = Mul(s, x)", alpha);
    const ir::Model together = parsed(swish_model(nodes));
    const ir::Model apart = parsed(swish_model(nodes, "float[64] y, float[64] s"));
    auto expected = testing_support::run_on_engine(apart, from_minus_eight).outputs;
    expected.resize(1);
    EXPECT_EQ(
        testing_support::difference(testing_support::run_on_engine(together, from_minus_eight).outputs, expected, 0),
        "")
        << alpha;
  }
}

}  // namespace
}  // namespace assay::engine
