#include "engine/lowering/spell_heads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::EngineRun;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;
using testing_support::sine;

// Two items of five tokens with eight features; x, and what attention may be given.
constexpr const char* kInputs =
    "float[2,5,8] x, float[2,5,8] k, float[2,5,8] v, float[2,2,3,4] p, float[2,2,3,4] r, float[2,2,2,3,4] s, "
    "float[2,2,5,5] a";
constexpr const char* kMasks =
    "int32[2,5] keys = {1,1,0,1,1,1,0,1,1,0}, int32[2,8] all = {1,1,1,1,0,1,1,0,0,1,1,1,1,1,1,1}, int32[2,5,5] each = "
    "{1,1,1,1,0,1,0,1,1,1,1,1,1,0,1,1,1,1,1,1,1,1,1,1,0,1,1,1,1,1,1,1,1,0,1,1,1,1,1,1,0,1,1,1,1,1,1,1,1,1}, int32[2] "
    "counts = {3,5}, int32[4] ends = {3,5,0,1}";

std::string list(int count, double step) {
  std::string numbers;
  for (int i = 0; i < count; ++i) numbers += fmt::format("{}{:.3f}", i == 0 ? "" : ",", 0.4 * std::cos(step * i));
  return numbers;
}

ir::Model model_of(const std::string& node, const std::string& outputs, int version = 17) {
  return parsed(
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}, \"com.microsoft\" : 1]> g ({}) => ({}) <{}, "
                  "float[8,24] w = {{{}}}, float[24] b = {{{}}}, float[8,20] u = {{{}}}> {{ {} }}",
                  version, kInputs, outputs, kMasks, list(192, 1.3), list(24, 2.1), list(160, 0.7), node));
}

ir::Model spelled(const ir::Model& model, uint64_t steps) {
  ir::Model made = model.copy();
  ir::Rewriter rewriter(made);
  spell_heads(made, rewriter);
  EXPECT_EQ(rewriter.steps().size(), steps);
  return made;
}

// Reference and engine compute the same afterwards; the engine has a kernel for the attention.
void expect_spelled(const ir::Model& model, double (*number)(size_t) = sine, double tolerance = 2e-6) {
  const std::vector<std::vector<double>> expected = run_on_reference(model, number);
  EXPECT_EQ(difference(run_on_reference(spelled(model, 1), number), expected, tolerance), "");
  const EngineRun run = run_on_engine(model, number);
  EXPECT_EQ(difference(run.outputs, expected, tolerance), "");
  EXPECT_EQ(std::ranges::count(run.tactics, "attention.blocks"), 1);
}

TEST(SpellHeads, attention) {
  for (const char* const node :
       {"y = com.microsoft.Attention<num_heads = 2>(x, w, b)", "y = com.microsoft.Attention<num_heads = 2>(x, w)",
        "y = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x, w, b)",
        "y = com.microsoft.Attention<num_heads = 2, scale = 0.3>(x, w, b, keys)",
        "y = com.microsoft.Attention<num_heads = 2>(x, w, b, each)",
        "y = com.microsoft.Attention<num_heads = 2, mask_filter_value = -3.0>(x, w, b, counts)",
        "y = com.microsoft.Attention<num_heads = 2>(x, w, b, , , a)",
        "y = com.microsoft.Attention<num_heads = 2>(x, w, b, keys, , a)"}) {
    SCOPED_TRACE(node);
    for (const int version : {13, 18}) expect_spelled(model_of(node, "float[2,5,8] y", version));
  }
  expect_spelled(
      model_of("y = com.microsoft.Attention<num_heads = 2, qkv_hidden_sizes = [8,8,4]>(x, u)", "float[2,5,4] y"));
}

TEST(SpellHeads, attention_that_goes_on) {
  const std::string outputs = "float[2,5,8] y, float[2,2,2,8,4] z";
  expect_spelled(model_of("y, z = com.microsoft.Attention<num_heads = 2, unidirectional = 1>(x, w, b, , s)", outputs));
  expect_spelled(model_of("y, z = com.microsoft.Attention<num_heads = 2>(x, w, b, all, s)", outputs));
  expect_spelled(
      model_of("y, z = com.microsoft.Attention<num_heads = 2>(x, w, b)", "float[2,5,8] y, float[2,2,2,5,4] z"));
}

TEST(SpellHeads, attention_of_codes) {
  const auto code = [](size_t i) { return static_cast<double>((i + 1) * 0x9E3779B97F4A7C15 >> 56) - 128; };
  std::string weights;
  for (int i = 0; i < 96; ++i) weights += fmt::format("{}{}", i == 0 ? "" : ",", i * 37 % 255 - 127);
  for (const char* const rest : {"", ", z", ", z, k", ", , k"}) {
    SCOPED_TRACE(rest);
    const ir::Model model = parsed(fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]> g (int8[1,3,8] x) => (float[1,3,4] y) "
        "<int8[8,12] w = {{{}}}, float[12] b = {{{}}}, float s = {{0.01}}, float t = {{0.004}}, int8 z = {{5}}, int8 k "
        "= {{-2}}, int32[1,3] m = {{1,0,1}}> {{ y = com.microsoft.QAttention<num_heads = 2>(x, w, b, s, t, m{}) }}",
        weights, list(12, 0.9), rest));
    const std::vector<std::vector<double>> expected = run_on_reference(model, code);
    EXPECT_EQ(difference(run_on_reference(spelled(model, 1), code), expected, 1e-5), "");
    const EngineRun run = run_on_engine(model, code);
    EXPECT_EQ(difference(run.outputs, expected, 1e-5), "");
    EXPECT_EQ(std::ranges::count(run.tactics, "reference"), 0);
  }
}

TEST(SpellHeads, heads_with_biases_and_masks) {
  for (const char* const node :
       {"y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v, b)",
        "y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v, , keys)",
        "y = com.microsoft.MultiHeadAttention<num_heads = 2, unidirectional = 1>(x, k, v, b, each, a)",
        "y = com.microsoft.MultiHeadAttention<num_heads = 2, scale = 0.2>(x, k, v, , counts)"}) {
    SCOPED_TRACE(node);
    expect_spelled(model_of(node, "float[2,5,8] y"));
  }
  expect_spelled(model_of("y, z, t = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v, b, all, , p, r)",
                          "float[2,5,8] y, float[2,2,8,4] z, float[2,2,8,4] t"));
}

TEST(SpellHeads, others_stay_as_they_are) {
  for (const char* const node : {"y = com.microsoft.Attention<num_heads = 2>(x, w, b, ends)",
                                 "y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v)",
                                 "y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v, , , a)"}) {
    spelled(model_of(node, "float[2,5,8] y"), 0);
  }
  spelled(model_of("y = com.microsoft.Attention<num_heads = 2>(x, w, b)", "float[2,5,8] y", 11), 0);
  spelled(model_of("y, , , q = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v, b)",
                   "float[2,5,8] y, float[2,2,5,5] q"),
          0);
}

}  // namespace
}  // namespace assay::engine
