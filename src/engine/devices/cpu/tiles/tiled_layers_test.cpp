#include "engine/devices/cpu/tiles/tiled_layers.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double tile_sine(size_t i) { return std::sin(static_cast<double>(i) + 1); }

std::string numbers(std::mt19937& random, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ",", (static_cast<int>(random() % 41) - 20) / 16.0);
  }
  return "{" + text + "}";
}

void expect_tactic(const std::string& text, const std::string& tactic,
                   const std::function<double(size_t)>& number = tile_sine, double tolerance = 2e-5) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 22]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(std::ranges::count(run.tactics, tactic), 1) << text.substr(0, 160);
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), tolerance), "")
      << text.substr(0, 160);
}

// What may follow a product: the text of nodes from `s` to `y`.
const char* const kTileFollowers[] = {
    "y = Identity(s)",
    "y = Relu(s)",
    "low = Constant<value_float = -0.5>() high = Constant<value_float = 1.5>() y = Clip(s, low, high)",
    "y = Add(s, other)",
    "a = Add(other, s) y = Relu(a)",
    "g = Sigmoid(s) y = Mul(s, g)",
    "a = Add(s, other) g = Sigmoid(a) y = Mul(a, g)",
    "g = Sigmoid(s) m = Mul(g, s) y = Add(m, g)",
    "r = Relu(s) y = Max(r, s)",
    "a = Add(s, other) y = Max(a, s)",
};

TEST(TiledMatrices, AgreeWithTheReference) {
  std::mt19937 random(1);
  for (const char* const follower : kTileFollowers) {
    for (const auto& [rows, depth, columns] :
         {std::tuple(9, 1, 1), {17, 5, 64}, {49, 800, 70}, {131, 20, 15}, {13, 1600, 17}, {300, 3, 200}}) {
      const std::string dims = fmt::format("{},{}", rows, columns);
      expect_tactic(fmt::format("(float[{},{}] x, float[{}] other) => (float[{}] y) <float[{},{}] w = {}> "
                                "{{ s = MatMul(x, w) {} }}",
                                rows, depth, dims, dims, depth, columns, numbers(random, depth * columns), follower),
                    "product.tiles");
    }
  }
}

TEST(TiledMatrices, AWholeMatrixThatAGemmAddsMayBeFollowedByASum) {
  std::mt19937 random(5);
  for (const int rows : {3, 20}) {
    expect_tactic(fmt::format("(float[{0},33] x, float[{0},70] c, float[{0},70] d) => (float[{0},70] y) "
                              "<float[33,70] w = {1}> {{ g = Gemm(x, w, c) a = Add(g, d) y = Relu(a) }}",
                              rows, numbers(random, 33 * 70)),
                  "product.tiles");
  }
}

TEST(TiledMatrices, OfGemmsWithBiasAndTransposedWeights) {
  std::mt19937 random(2);
  for (const char* const turned : {"0", "1"}) {
    const char* const dims = *turned == '1' ? "70,33" : "33,70";
    expect_tactic(fmt::format("(float[20,33] x) => (float[20,70] y) <float[{}] w = {}, float[70] b = {}> "
                              "{{ y = Gemm<transB = {}>(x, w, b) }}",
                              dims, numbers(random, 33 * 70), numbers(random, 70), turned),
                  "product.tiles");
  }
}

// The reference rounds every value, the engine what it stores.
constexpr double kBfloat16 = 0.02;

class TilesOfBfloat16 : public testing::Test {
 protected:
  void SetUp() override {
    if (pair_kernels() == nullptr) GTEST_SKIP() << "this processor does not multiply bfloat16";
  }
  std::mt19937 random_{6};
};

TEST_F(TilesOfBfloat16, ProductsAgreeWithTheReference) {
  for (const char* const follower : kTileFollowers) {
    if (std::string_view(follower).find("Constant") != std::string_view::npos) continue;  // bounds of float32
    for (const auto& [rows, depth, columns] : {std::tuple(17, 6, 64),
                                               {49, 800, 70},
                                               {131, 20, 15},
                                               {13, 3200, 17},
                                               {300, 4, 200},
                                               {1, 3072, 70},
                                               {1, 8, 9}}) {
      const std::string dims = fmt::format("{},{}", rows, columns);
      expect_tactic(fmt::format("(bfloat16[{},{}] x, bfloat16[{}] other) => (bfloat16[{}] y) <float[{},{}] f = {}> "
                                "{{ w = Cast<to = 16>(f) s = MatMul(x, w) {} }}",
                                rows, depth, dims, dims, depth, columns, numbers(random_, depth * columns), follower),
                    rows < 9 ? "product.panels" : "product.tiles", tile_sine, kBfloat16);
    }
  }
}

TEST_F(TilesOfBfloat16, BiasesAreAdded) {
  for (const auto& [rows, tactic] : {std::pair(3, "product.panels"), {20, "product.tiles"}}) {
    expect_tactic(fmt::format("(bfloat16[{},34] x) => (bfloat16[{},70] y) <float[70,34] f = {}, float[70] g = {}> "
                              "{{ w = Cast<to = 16>(f) b = Cast<to = 16>(g) y = Gemm<transB = 1>(x, w, b) }}",
                              rows, rows, numbers(random_, 34 * 70), numbers(random_, 70)),
                  tactic, tile_sine, kBfloat16);
  }
}

TEST_F(TilesOfBfloat16, ConvolutionsAgreeWithTheReference) {
  for (const auto& [kernel, tactic] : {std::pair(1, "conv.pointwise"), {3, "conv.windows"}}) {
    for (const char* const follower : {"y = Identity(s)", "y = Relu(s)", "g = Sigmoid(s) y = Mul(s, g)"}) {
      expect_tactic(
          fmt::format(
              "(bfloat16[2,18,9,11] x) => (bfloat16[2,35,h,v] y) <float[35,18,{0},{0}] f = {1}, float[35] c = {2}> "
              "{{ w = Cast<to = 16>(f) b = Cast<to = 16>(c) "
              "s = Conv<kernel_shape = [{0}, {0}], strides = [2, 1], pads = [0, 1, 1, 0]>(x, w, b) {3} }}",
              kernel, numbers(random_, 35 * 18 * kernel * kernel), numbers(random_, 35), follower),
          tactic, tile_sine, kBfloat16);
    }
  }
}

// Channels that fill no words, or whose lines of windows are one step.
TEST_F(TilesOfBfloat16, ConvolutionsOfFewChannelsAgreeWithTheReference) {
  struct Form {
    int channels, kernel;
    const char* attributes;
    const char* tactic;
  };
  constexpr Form kForms[] = {{3, 7, "strides = [2, 2], pads = [3, 3, 3, 3]", "conv.windows"},
                             {3, 3, "strides = [2, 2], pads = [0, 0, 1, 1]", "conv.windows"},
                             {1, 5, "pads = [2, 0, 0, 4]", "conv.windows"},
                             {4, 3, "pads = [1, 0, 1, 2]", "conv.windows"},
                             {5, 3, "dilations = [2, 2], pads = [2, 2, 2, 2]", "conv.windows"},
                             {9, 3, "strides = [1, 3]", "conv.windows"},
                             {3, 1, "strides = [2, 1]", "conv.pointwise"}};
  for (const auto& [channels, kernel, attributes, tactic] : kForms) {
    for (const char* const follower : {"y = Relu(s)", "g = Sigmoid(s) y = Mul(s, g)"}) {
      expect_tactic(
          fmt::format("(bfloat16[2,{0},17,19] x) => (bfloat16[2,35,h,v] y) <float[35,{0},{1},{1}] f = {2}, "
                      "float[35] c = {3}> {{ w = Cast<to = 16>(f) b = Cast<to = 16>(c) s = Conv<kernel_shape = "
                      "[{1}, {1}], {4}>(x, w, b) {5} }}",
                      channels, kernel, numbers(random_, 35 * channels * kernel * kernel), numbers(random_, 35),
                      attributes, follower),
          tactic, tile_sine, kBfloat16);
    }
  }
}

// What a convolution is drawn from.
struct Window {
  int64_t batch, channels, out_channels, height, width, kernel, stride, dilation;
  const char* pads;
};

class TiledConvolutions : public testing::Test {
 protected:
  void expect(const Window& w, const char* follower, const char* tactic, double tolerance = 2e-5) {
    const std::string text = fmt::format(
        "(float[{},{},{},{}] x) => (y) <float[{},{},{},{}] w = {}, float[{}] b = {}> "
        "{{ s = Conv<kernel_shape = [{}, {}], strides = [{}, {}], dilations = [{}, {}]{}>(x, w, b) {} }}",
        w.batch, w.channels, w.height, w.width, w.out_channels, w.channels, w.kernel, w.kernel,
        numbers(random_, w.out_channels * w.channels * w.kernel * w.kernel), w.out_channels,
        numbers(random_, w.out_channels), w.kernel, w.kernel, w.stride, w.stride, w.dilation, w.dilation, w.pads,
        follower);
    expect_tactic(text, tactic, tile_sine, tolerance);
  }
  std::mt19937 random_{3};
};

const char* const kUnaryFollowers[] = {"y = Identity(s)", "y = Relu(s)", "g = Sigmoid(s) y = Mul(s, g)"};

TEST_F(TiledConvolutions, OfOnePixelAgreeWithTheReference) {
  for (const char* const follower : kUnaryFollowers) {
    expect({1, 16, 64, 7, 7, 1, 1, 1, ""}, follower, "conv.pointwise");
    expect({2, 5, 70, 9, 4, 1, 1, 1, ""}, follower, "conv.pointwise");
    expect({1, 20, 33, 9, 11, 1, 2, 1, ""}, follower, "conv.pointwise");
    expect({1, 900, 20, 1, 1, 1, 1, 1, ""}, follower, "conv.pointwise");
    expect({1, 3, 17, 40, 40, 1, 1, 1, ", pads = [1, 0, 2, 1]"}, follower, "conv.pointwise");
  }
}

TEST_F(TiledConvolutions, OfWindowsAgreeWithTheReference) {
  for (const char* const follower : kUnaryFollowers) {
    expect({1, 3, 64, 30, 30, 7, 2, 1, ", pads = [3, 3, 3, 3]"}, follower, "conv.windows");
    expect({2, 16, 20, 7, 9, 3, 1, 1, ", auto_pad = \"SAME_LOWER\""}, follower, "conv.windows");
    expect({1, 130, 65, 7, 7, 3, 1, 1, ", pads = [1, 1, 1, 1]"}, follower, "conv.windows");
    expect({1, 8, 16, 12, 12, 3, 1, 3, ", pads = [2, 0, 0, 5]"}, follower, "conv.windows");
    expect({1, 1, 1, 5, 5, 5, 1, 1, ""}, follower, "conv.windows");
    expect({1, 800, 20, 3, 3, 2, 1, 1, ""}, follower, "conv.windows");
    expect({1, 12, 20, 14, 13, 9, 1, 1, ", pads = [4, 3, 4, 0]"}, follower, "conv.windows");
  }
}

// Of as many channels as panels have columns, so that places outside of the picture are left out.
TEST_F(TiledConvolutions, OfWindowsBeyondThePictureAgreeWithTheReference) {
  constexpr double kOfManyTerms = 3e-4;
  for (const char* const follower : {"y = Identity(s)", "y = Relu(s)", "y = Add(s, s)"}) {
    expect({1, 20, 64, 7, 7, 3, 1, 1, ", pads = [1, 1, 1, 1]"}, follower, "conv.windows");
    expect({2, 300, 64, 9, 11, 3, 2, 1, ", pads = [1, 1, 1, 1]"}, follower, "conv.windows", kOfManyTerms);
    expect({1, 800, 64, 4, 4, 3, 1, 1, ", pads = [1, 0, 1, 1]"}, follower, "conv.windows", kOfManyTerms);
    expect({3, 5, 128, 16, 8, 5, 1, 1, ", pads = [2, 2, 2, 2]"}, follower, "conv.windows");
    expect({1, 6, 64, 8, 8, 3, 1, 3, ", pads = [3, 4, 3, 2]"}, follower, "conv.windows");
    expect({1, 6, 64, 3, 3, 2, 1, 1, ", pads = [1, 3, 3, 1]"}, follower, "conv.windows");
  }
}

TEST_F(TiledConvolutions, BitsDoNotDependOnThreads) {
  const ir::Model model = parsed(fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1,30,14,14] x) => (y) <float[64,30,3,3] w = {}> "
      "{{ s = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) y = Relu(s) }}",
      numbers(random_, 64 * 30 * 9)));
  std::vector<std::vector<double>> first;
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, tile_sine, true);
    EXPECT_EQ(std::ranges::count(run.tactics, "conv.windows"), 1);
    if (first.empty()) first = run.outputs;
    EXPECT_EQ(run.outputs, first) << threads;
  }
}

TEST_F(TiledConvolutions, ASumOfTwoIsOneLayer) {
  const std::string weights = numbers(random_, 16 * 16);
  expect_tactic(fmt::format("(float[1,16,6,5] x) => (y) <float[16,16,1,1] w = {}> "
                            "{{ r = Relu(x) c = Conv(r, w) s = Add(c, r) y = Relu(s) }}",
                            weights),
                "conv.pointwise");
}

TEST_F(TiledConvolutions, SpecialNumbersStayWhereTheyAre) {
  const auto special = [](size_t i) { return i == 17 ? std::numeric_limits<double>::infinity() : tile_sine(i); };
  expect_tactic(fmt::format("(float[1,2,6,6] x) => (y) <float[3,2,3,3] w = {}> "
                            "{{ y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) }}",
                            numbers(random_, 54)),
                "conv.windows", special);
}

TEST(TiledMatrices, BitsDoNotDependOnThreads) {
  std::mt19937 random(4);
  const ir::Model model =
      parsed(fmt::format("<ir_version: 10, opset_import: [\"\" : 21]> g (float[70,900] x) => (float[70,150] y) "
                         "<float[900,150] w = {}> {{ s = MatMul(x, w) y = Sigmoid(s) }}",
                         numbers(random, 900 * 150)));
  std::vector<std::vector<double>> first;
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, tile_sine, true);
    if (first.empty()) first = run.outputs;
    EXPECT_EQ(run.outputs, first) << threads;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
