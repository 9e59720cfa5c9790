#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

double row_sine(size_t i) { return 3 * std::sin(static_cast<double>(i) + 1); }

TEST(Normalization, RmsThatIsWrittenOut) {
  for (const int width : {1, 3, 16, 45}) {
    for (const char* const end :
         {"i = Reciprocal(r) y = Mul(i, x)", "y = Div(x, r)", "i = Reciprocal(r) n = Mul(x, i) y = Mul(s, n)",
          "n = Div(x, r) y = Mul(n, s)", "i = Div(one, r) n = Mul(x, i) y = Mul(n, s)"}) {
      const std::string text = fmt::format(
          "<ir_version: 10, opset_import: [\"\" : 17]> g (float[2,5,{0}] x, float[{0}] s) => (float[2,5,{0}] y) "
          "<float one = {{1}}, float two = {{2}}, float e = {{0.01}}> {{ p = Pow(x, two) m = ReduceMean<axes = "
          "[-1]>(p) a = Add(m, e) "
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

// Data of float32 stay so where the factors are bfloat16, which is the type of the result.
TEST(Normalization, TypesOfDataAndFactorsDiffer) {
  for (const int width : {1, 3, 16, 45}) {
    const std::string text = fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 17]> g (float[2,5,{0}] x, bfloat16[{0}] s) => (bfloat16[2,5,{0}] y) "
        "{{ y = SimplifiedLayerNormalization<epsilon = 0.01>(x, s) }}",
        width);
    const ir::Model model = testing_support::parsed(text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, row_sine);
    EXPECT_EQ(run.tactics, std::vector<std::string>{"normalization.rows"}) << text;
    EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, row_sine), 0x1p-7), "")
        << text;
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

// Groups as exporters write them, with or without numbers of channels behind them, in either order of dims.
TEST(Normalization, GroupsBetweenReshapes) {
  const auto repeated = [](int count, const char* number) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", number);
    return text;
  };
  for (const int groups : {1, 2, 6}) {
    for (const char* const factor : {"1", "2"}) {
      for (const char* const end :
           {"y = Relu(o)", "p = Mul(o, m) q = Add(n, p) y = Relu(q)", "p = Mul(m, o) y = Relu(p)"}) {
        for (const bool is_picture : {false, true}) {
          const std::string text = fmt::format(
              "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,6,7,5] x) => (float y) <int64[3] s = {{0, {0}, "
              "-1}}, "
              "int64[4] d = {{2, 6, 7, 5}}, float[{0}] a = {{{1}}}, float[{0}] b = {{{2}}}, float[6,1,1] m = "
              "{{1,2,3,4,5,6}}, "
              "float[1,6,1,1] n = {{6,5,4,3,2,1}}> {{ {3} r = Reshape(w, s) i = InstanceNormalization(r, a, b) "
              "o = Reshape(i, d) {4} }}",
              groups, repeated(groups, factor), repeated(groups, "0"),
              is_picture ? "w = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x)" : "w = Neg(x)", end);
          const ir::Model model = testing_support::parsed(text);
          const testing_support::EngineRun run = testing_support::run_on_engine(model, row_sine);
          EXPECT_EQ(std::ranges::count(run.tactics, "normalization.channels"), 1) << text;
          EXPECT_EQ(std::ranges::count(run.tactics, "reference"), 0) << text;
          const size_t copies = is_picture ? 2 : 0;
          EXPECT_EQ(run.tactics.size(), copies + 3) << text;
          EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, row_sine), 1e-5),
                    "")
              << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
