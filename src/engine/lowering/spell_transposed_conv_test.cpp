#include "engine/lowering/spell_transposed_conv.h"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double sine(size_t i) { return std::sin(1.9 * static_cast<double>(i) + 1); }

int up_to(std::mt19937& random, int most) { return static_cast<int>(1 + random() % static_cast<unsigned>(most)); }

std::string whole_numbers(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", up_to(random, 9) - 5);
  return text;
}

// With a window that may be smaller than a stride, padding, and results that nothing is spread to.
std::string transposed_model(std::mt19937& random, int dims) {
  std::vector<int> kernel, strides, pads(static_cast<size_t>(2 * dims)), size, more;
  int window = 1;
  for (int i = 0; i < dims; ++i) {
    kernel.push_back(up_to(random, 5));
    strides.push_back(up_to(random, 3));
    size.push_back(up_to(random, 4) + 2);
    window *= kernel.back();
    for (const int side : {i, i + dims})
      pads[static_cast<size_t>(side)] = up_to(random, std::min(3, kernel.back())) - 1;
    more.push_back(strides.back() > 1 && random() % 2 == 0 ? 1 : 0);
  }
  const int channels = up_to(random, 5), filters = up_to(random, 3);
  const bool has_bias = random() % 2 == 0;
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[{},{},{}] x) => (float y) <float[{},{},{}] w = {{{}}}, "
      "float[{}] b = {{{}}}> {{ y = ConvTranspose<strides = [{}], pads = [{}], output_padding = [{}]>(x, w{}) }}",
      up_to(random, 2), channels, fmt::join(size, ","), channels, filters, fmt::join(kernel, ","),
      whole_numbers(random, channels * filters * window), filters, whole_numbers(random, filters),
      fmt::join(strides, ","), fmt::join(pads, ","), fmt::join(more, ","), has_bias ? ", b" : "");
}

size_t expect_same_results(const std::string& text) {
  const ir::Model model = testing_support::parsed(text);
  ir::Model spelled = model.copy();
  ir::Rewriter rewriter(spelled);
  spell_transposed_conv(spelled, rewriter, {});
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(spelled, sine),
                                        testing_support::run_on_reference(model, sine), 1e-6),
            "")
      << text;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, sine).outputs,
                                        testing_support::run_on_reference(model, sine), 1e-5),
            "")
      << text;
  return rewriter.steps().size();
}

TEST(SpellTransposedConv, DrawnConvolutions) {
  std::mt19937 random(3);
  size_t spelled = 0;
  for (int round = 0; round < 240; ++round) spelled += expect_same_results(transposed_model(random, 1 + round % 3));
  EXPECT_GE(spelled, 200u);  // others have results that no step reaches
}

// To many channels: those whose windows are whole strides, or nearly so.
TEST(SpellTransposedConv, ManyChannels) {
  std::mt19937 random(4);
  const auto steps = [&](const std::string& dims, const std::string& kernel, int places, const std::string& strides) {
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,3,{}] x) => (float y) <float[3,9,{}] w = {{{}}}> "
        "{{ y = ConvTranspose<strides = [{}]>(x, w) }}",
        dims, kernel, whole_numbers(random, 27 * places), strides);
    return expect_same_results(text);
  };
  EXPECT_EQ(steps("300", "4", 4, "2"), 1u);
  EXPECT_EQ(steps("50", "3", 3, "2"), 1u);
  EXPECT_EQ(steps("20", "1", 1, "8"), 0u);
  EXPECT_EQ(steps("7,5", "4,4", 16, "2,2"), 1u);
  EXPECT_EQ(steps("7,5", "5,5", 25, "2,2"), 1u);
  EXPECT_EQ(steps("7,5", "3,3", 9, "2,2"), 0u);
}

TEST(SpellTransposedConv, LeavesOthersAlone) {
  for (const char* const node : {"ConvTranspose<group = 2>(x, w)", "ConvTranspose<dilations = [2, 1]>(x, w)",
                                 "ConvTranspose<auto_pad = \"SAME_UPPER\", strides = [2, 2]>(x, w)",
                                 "ConvTranspose<output_shape = [9, 9], strides = [2, 2]>(x, w)", "ConvTranspose(x, v)",
                                 "ConvTranspose<strides = [20, 20]>(x, w)"}) {
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,2,4,4] x, float[2,1,2,2] v) => (float y) "
        "<float[2,1,2,2] w = {{1,2,3,4,5,6,7,8}}> {{ y = {} }}",
        node);
    EXPECT_EQ(expect_same_results(text), 0u) << text;
  }
}

}  // namespace
}  // namespace assay::engine
