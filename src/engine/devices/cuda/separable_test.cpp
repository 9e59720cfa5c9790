// Depthwise convolutions as operands of the convolution behind them, on a card whose kernels the host runs.
#include <gtest/gtest.h>

#include "simt/replayed_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::difference;
using testing_support::numbers;
using testing_support::OnCard;

// A depthwise convolution of `channels` with what follows it, as y, and one of single pixels.
struct Pair {
  const char* type = "float16";
  int batch = 1, channels = 16, height = 7, width = 7, kernel = 3, stride = 1, columns = 24;
  const char* pads = "1,1,1,1";
  const char* activation = "y = Relu(d)";
  bool has_residual = false;
  double tolerance = 2e-2;

  int out(int size) const { return (size + (pads[0] - '0') + (pads[4] - '0') - kernel) / stride + 1; }
  std::string text() const {
    const std::string out = fmt::format("{}[{},{},{},{}]", type, batch, columns, this->out(height), this->out(width));
    return fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 22]> g ({0}[{1},{2},{3},{4}] x, {5} r) => ({5} z, {5} q) "
        "<{6}, {7}, {8}, {9}, {0} low = {{0}}, {0} high = {{6}}> {{ "
        "d = Conv<group = {2}, pads = [{10}], strides = [{11},{11}]>(x, w, b) {12} p = Conv(y, v, c) {13} q = Neg(r) "
        "}}",
        type, batch, channels, height, width, out,
        numbers(fmt::format("{}[{},1,{},{}] w", type, channels, kernel, kernel), channels * kernel * kernel),
        numbers(fmt::format("{}[{}] b", type, channels), channels),
        numbers(fmt::format("{}[{},{},1,1] v", type, columns, channels), columns * channels),
        numbers(fmt::format("{}[{}] c", type, columns), columns), pads, stride, activation,
        has_residual ? "z = Add(p, r)" : "z = Clip(p, low, high)");
  }
};

void check(const Pair& pair, const std::string& variant) {
  testing_support::check_replayed(pair.text(), "conv.separable:" + variant, pair.tolerance);
}

// Windows that end in the middle of tiles, over odd pictures; columns that no tile ends with; clusters of which a block
// has no columns, or fewer channels than others.
TEST(CardSeparable, WindowsOfEachKind) {
  check({}, "16x32/1");
  check({.channels = 40, .height = 9, .width = 5, .stride = 2, .columns = 20}, "16x32/1");
  check({.batch = 2, .channels = 24, .height = 8, .width = 6, .stride = 2, .columns = 17, .pads = "0,0,1,1"},
        "32x32/1");
  check({.channels = 72, .height = 6, .width = 7, .kernel = 5, .columns = 40, .pads = "2,2,2,2"}, "16x48/1");
  check({.channels = 56, .height = 11, .width = 9, .kernel = 5, .stride = 2, .columns = 16, .pads = "2,1,2,1"},
        "16x16/1");
  check({.type = "bfloat16", .channels = 136, .columns = 72, .has_residual = true, .tolerance = 0.3}, "16x80/1");
}

TEST(CardSeparable, ClustersShareChannels) {
  check({.channels = 136, .columns = 72, .has_residual = true, .tolerance = 0.1}, "16x48/2");
  check({.type = "bfloat16", .channels = 72, .columns = 33, .tolerance = 0.3}, "16x16/4");
  check({.batch = 3, .channels = 328, .height = 5, .width = 5, .columns = 160, .has_residual = true, .tolerance = 0.2},
        "64x32/8");
}

TEST(CardSeparable, Activations) {
  for (const char* const activation :
       {"y = Clip(d, low, high)", "y = HardSwish(d)", "s = Sigmoid(d) y = Mul(d, s)", "y = LeakyRelu(d)"}) {
    check({.channels = 32, .activation = activation, .has_residual = true}, "16x32/1");
  }
}

TEST(CardSeparable, BothKernels) {
  check({.channels = 24, .height = 9, .stride = 2}, "apart");
  check({.type = "bfloat16", .kernel = 5, .pads = "2,2,2,2", .has_residual = true, .tolerance = 0.1}, "apart");
}

// The tactics of a model without a prescribed one; channels are of a size.
std::vector<std::string> tactics_of(const std::string& nodes, int channels = 16, const char* type = "float16",
                                    const char* result = "16,7,7") {
  const OnCard model(fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 22]> g ({0}[1,{1},7,7] x) => ({0}[1,{2}] z) <{3}, {4}> {{ {5} }}", type,
      channels, result, numbers(fmt::format("{}[{},1,3,3] w", type, channels), channels * 9),
      numbers(fmt::format("{0}[16,{1},1,1] v", type, channels), 16 * channels), nodes));
  return model.tactics();
}

TEST(CardSeparable, LayersThatStayApart) {
  const std::vector<std::string> joined = {"conv.separable:16x16/1"};
  const std::vector<std::string> two = {"conv.depthwise", "conv.tiles"};
  const auto names = [](std::vector<std::string> tactics) {
    for (std::string& name : tactics) name = name.substr(0, name.find(':'));
    return tactics;
  };
  const std::string windows = "d = Conv<group = 16, pads = [1,1,1,1]>(x, w) ";
  EXPECT_EQ(names(tactics_of(windows + "z = Conv(d, v)")), std::vector<std::string>{"conv.separable"});
  EXPECT_EQ(names(tactics_of(windows + "z = Conv(d, v)", 16, "float")), two);
  EXPECT_EQ(names(tactics_of("d = Conv<group = 12, pads = [1,1,1,1]>(x, w) z = Conv(d, v)", 12)), two);
  EXPECT_EQ(names(tactics_of(windows + "a = Add(d, x) z = Conv(a, v)")), two);  // reads what else is computed
  EXPECT_EQ(names(tactics_of(windows + "a = Conv(d, v) z = Mul(a, d)")), two);  // is read twice
  EXPECT_EQ(names(tactics_of(windows + "z = Conv<strides = [2,2]>(d, v)", 16, "float16", "16,4,4")), two);
}

}  // namespace
}  // namespace assay::engine::cuda
