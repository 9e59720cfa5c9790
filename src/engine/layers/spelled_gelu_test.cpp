#include "engine/layers/spelled_gelu.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::parsed;

ir::Model lowered(const std::string& nodes, const std::string& outputs = "float[64] y") {
  ir::Model model =
      parsed(("<ir_version: 8, opset_import: [\"\" : 17]> g (float[64] x) => (" + outputs +
              ") <float two = {1.41421356}, float inverse = {0.70710678}, float half = {0.5}, float one = {1}, float "
              "three = {3}, float cubic = {0.044715}, float root = {0.79788456}> { " +
              nodes + " }")
                 .c_str());
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  return model;
}

SpelledGelu found_in(const ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  const ir::NodeId node = *ir::nodes(model, model.main_graph()).begin();
  const std::optional<Layer> layer = find_layer(model, inference, node);
  SpelledGelu found;
  for (const ir::ValueId value : layer->input_values) {
    if (found.nodes == 0) found = match_gelu(*layer, 0, value);
  }
  return found;
}

constexpr const char* kByErf[] = {
    "d = Div(x, two) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half)",
    "h = Mul(half, x) d = Mul(x, inverse) e = Erf(d) a = Add(one, e) y = Mul(a, h)",
    "d = Mul(inverse, x) h = Mul(x, half) e = Erf(d) a = Add(e, one) y = Mul(h, a)",
    "d = Div(x, two) e = Erf(d) a = Add(e, one) h = Mul(half, a) y = Mul(x, h)",
};
constexpr const char* kByTanh[] = {
    "p = Pow(x, three) c = Mul(p, cubic) s = Add(x, c) r = Mul(s, root) t = Tanh(r) h = Mul(x, half) a = Add(t, one) "
    "y = Mul(h, a)",
    "h = Mul(half, x) p = Pow(x, three) c = Mul(cubic, p) s = Add(c, x) r = Mul(root, s) t = Tanh(r) a = Add(one, t) "
    "y = Mul(a, h)",
    "p = Pow(x, three) c = Mul(cubic, p) s = Add(x, c) r = Mul(root, s) t = Tanh(r) a = Add(t, one) h = Mul(half, a) "
    "y = Mul(x, h)",
};

TEST(SpelledGelu, is_found_however_it_is_arranged) {
  for (const char* text : kByErf) {
    const SpelledGelu gelu = found_in(lowered(text));
    EXPECT_EQ(gelu.nodes, 5u) << text;
    EXPECT_FALSE(gelu.is_by_tanh) << text;
  }
  for (const char* text : kByTanh) {
    const SpelledGelu gelu = found_in(lowered(text));
    EXPECT_EQ(gelu.nodes, 8u) << text;
    EXPECT_TRUE(gelu.is_by_tanh) << text;
  }
}

TEST(SpelledGelu, other_formulas_are_none) {
  for (const char* text : {
           "d = Div(x, half) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half)",
           "d = Div(x, two) e = Tanh(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half)",
           "d = Div(x, two) e = Erf(d) a = Add(e, half) m = Mul(x, a) y = Mul(m, half)",
           "d = Div(x, two) e = Erf(d) a = Add(e, one) m = Mul(d, a) y = Mul(m, half)",
           "p = Pow(x, two) c = Mul(p, cubic) s = Add(x, c) r = Mul(s, root) t = Tanh(r) h = Mul(x, half) "
           "a = Add(t, one) y = Mul(h, a)",
           "p = Pow(x, three) c = Mul(p, cubic) s = Add(p, c) r = Mul(s, root) t = Tanh(r) h = Mul(x, half) "
           "a = Add(t, one) y = Mul(h, a)",
           "d = Div(x, two) e = Erf(d) a = Add(e, one) m = Mul(x, a) h = Mul(m, half) y = Mul(h, a)",
       }) {
    EXPECT_EQ(found_in(lowered(text)).nodes, 0u) << text;
  }
}

TEST(SpelledGelu, one_step_computes_what_the_operators_do) {
  const auto number = [](size_t index) { return (static_cast<double>(index) - 32) / 6; };
  for (const auto* const texts :
       {&kByErf[0], &kByErf[1], &kByErf[2], &kByErf[3], &kByTanh[0], &kByTanh[1], &kByTanh[2]}) {
    const ir::Model model = lowered(*texts);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
    EXPECT_EQ(run.tactics, std::vector<std::string>{"elementwise.tape"});
    EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, number), 5e-7), "");
  }
}

}  // namespace
}  // namespace assay::engine
