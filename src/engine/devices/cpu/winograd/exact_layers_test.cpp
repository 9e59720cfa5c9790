#include "engine/devices/cpu/winograd/exact_layers.h"

#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/winograd/exact_forms.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::parsed;

struct Picture {
  int64_t batch, channels, out_channels, height, width;
  const char* pads;
};
// Whole tiles of either form, results that end in the middle of one, and panels that are not full.
const Picture kPictures[] = {{1, 32, 48, 22, 23, "1, 1, 1, 1"},
                             {2, 48, 32, 13, 11, "0, 1, 2, 0"},
                             {1, 64, 80, 20, 21, "1, 1, 1, 1"},
                             {3, 16, 16, 8, 8, "2, 2, 0, 0"},
                             {1, 256, 32, 7, 7, "1, 1, 1, 1"}};

class ExactLayersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (exact_loops() == nullptr) GTEST_SKIP() << "no instructions for them on this processor";
  }

  std::string weights(const Picture& p, bool are_ends) {
    std::string text;
    for (int64_t i = 0; i < p.out_channels * p.channels * 9; ++i) {
      const auto drawn = static_cast<int>(random_() % 256);
      text += fmt::format("{}{}", i == 0 ? "" : ",", are_ends ? drawn % 2 * 255 - 128 : drawn - 128);
    }
    return "{" + text + "}";
  }

  std::string text_of(const Picture& p, const std::string& type, const std::string& result, const char* nodes,
                      bool are_ends) {
    return fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 21]> g ({0}[{1},{2},{3},{4}] x, {0} z) => ({5}[{1},{6},oh,ow] y) "
        "<int8[{6},{2},3,3] w = {7}, float xs = {{0.02}}, {0} xz = {{17}}, float ws = {{0.01}}, float ys = {{0.731}}, "
        "uint8 yz = {{120}}> {{ {8} }}",
        type, p.batch, p.channels, p.height, p.width, result, p.out_channels, weights(p, are_ends),
        fmt::format(fmt::runtime(nodes), p.pads));
  }

  // By each variant that there is for the layer.
  void expect_all(const std::string& text, bool is_signed, double most) {
    const ir::Model model = parsed(text);
    const unsigned seed = random_();
    const auto number = [&](size_t i) {
      std::mt19937 one(static_cast<unsigned>(i) * 7919 + seed);
      const auto code = static_cast<int>(one() % 3 == 0 ? one() % 2 * 255 : one() % 256);
      return static_cast<double>(is_signed ? code - 128 : code);
    };
    const std::vector<double> expected = testing_support::run_on_reference(model, number)[0];
    for (const char* const variant : {"lanes/4", "stages/4", "lanes/2", "stages/2"}) {
      const testing_support::EngineRun run = testing_support::run_on_engine(
          model, number,
          engine::ProgramOptions{.tactics = {.replayed = {{"y", fmt::format("conv.winograd_codes:{}", variant)}}}});
      ASSERT_EQ(run.outputs[0].size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(run.outputs[0][i], expected[i], most) << variant << ", element " << i;
    }
  }

  std::mt19937 random_{3};
};

TEST_F(ExactLayersTest, SumsAreThoseOfTheReference) {
  for (const Picture& picture : kPictures) {
    for (const bool is_signed : {false, true}) {
      const std::string text = text_of(picture, is_signed ? "int8" : "uint8", "int32",
                                       "y = ConvInteger<pads = [{}]>(x, w, z)", picture.channels < 100);
      expect_all(text, is_signed, 0);
    }
  }
}

TEST_F(ExactLayersTest, CodesAreMadeOfSums) {
  constexpr const char* kNodes =
      "xd = DequantizeLinear(x, xs, xz)  wd = DequantizeLinear(w, ws)  s = Conv<pads = [{}]>(xd, wd)  r = Relu(s)  "
      "y = QuantizeLinear(r, ys, yz)";
  for (const Picture& picture : kPictures) {
    expect_all(text_of(picture, "uint8", "uint8", kNodes, false), false, 1);
    expect_all(text_of(picture, "int8", "uint8", kNodes, picture.channels < 100), true, 1);
  }
}

}  // namespace
}  // namespace assay::engine::cpu
