#include "engine/devices/cpu/depthwise/depthwise_layers.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/depthwise/depthwise_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double window_sine(size_t i) { return std::sin(static_cast<double>(i) + 1); }

struct Window {
  int64_t batch, channels, height, width, kernel, stride, dilation;
  const char* pads;
  int64_t repeat = 1;  // results of a channel
};

ir::Model drawn_model(const Window& w, const char* follower, const char* type = "float") {
  std::mt19937 random(1);
  const auto numbers = [&](int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ",", (static_cast<int>(random() % 41) - 20) / 16.0);
    return text;
  };
  return parsed(fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 22]> g ({0}[{1},{2},{3},{4}] x) => (y) <{0}[{12},1,{5},{5}] w = {{{6}}}, "
      "{0}[{12}] b = {{{7}}}> {{ s = Conv<group = {2}, kernel_shape = [{5}, {5}], strides = [{8}, {8}], dilations = "
      "[{9}, {9}], pads = [{10}]>(x, w, b) {11} }}",
      type, w.batch, w.channels, w.height, w.width, w.kernel, numbers(w.channels * w.repeat * w.kernel * w.kernel),
      numbers(w.channels * w.repeat), w.stride, w.dilation, w.pads, follower, w.channels * w.repeat));
}

const char* const kFollowers[] = {
    "y = Identity(s)",
    "y = Relu(s)",
    "low = Constant<value_float = -0.5>() high = Constant<value_float = 1.5>() y = Clip(s, low, high)",
    "g = Sigmoid(s) y = Mul(s, g)",
    "r = Relu(s) y = Add(r, s)",
};

const Window kWindows[] = {
    {1, 16, 7, 7, 3, 1, 1, "1, 1, 1, 1"},
    {2, 35, 14, 15, 3, 1, 1, "1, 1, 1, 1"},
    {1, 40, 13, 14, 3, 2, 1, "0, 0, 1, 1"},
    {1, 7, 30, 9, 5, 1, 1, "2, 2, 2, 2"},
    {1, 72, 11, 23, 5, 2, 1, "2, 1, 2, 3"},
    {1, 24, 12, 12, 3, 1, 2, "2, 2, 2, 2"},
    {1, 33, 3, 2, 5, 1, 1, "4, 4, 4, 4"},
    {1, 8, 9, 40, 1, 1, 1, "0, 0, 0, 0"},
    {3, 130, 5, 5, 4, 3, 1, "1, 2, 2, 1"},
    {1, 20, 2, 3, 3, 1, 3, "6, 6, 6, 6"},
    {1, 36, 12, 13, 3, 2, 1, "1, 1, 1, 1"},
    {1, 32, 2, 9, 3, 1, 1, "1, 1, 1, 1"},
    {1, 16, 9, 9, 3, 1, 1, "2, 2, 2, 2"},
    {1, 17, 1, 6, 3, 2, 1, "2, 1, 2, 1"},
    // Several pixels at once.
    {1, 5, 6, 40, 3, 1, 1, "1, 1, 1, 1"},
    {2, 5, 4, 33, 7, 1, 1, "3, 3, 3, 3"},
    {1, 12, 5, 19, 5, 1, 1, "2, 2, 2, 2"},
    {1, 40, 3, 70, 3, 1, 2, "2, 2, 2, 2"},
    {1, 16, 9, 21, 7, 1, 1, "3, 3, 3, 3"},
    {1, 2, 3, 80, 3, 1, 1, "0, 0, 0, 0"},
};

void expect_agreement(const Window& w, const char* follower, const char* type, double tolerance) {
  const ir::Model model = drawn_model(w, follower, type);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, window_sine);
  EXPECT_EQ(std::ranges::count(run.tactics, "conv.depthwise"), 1) << w.channels << " " << follower;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, window_sine), tolerance), "")
      << w.channels << " " << w.kernel << " " << follower;
}

TEST(DepthwiseLayers, AgreeWithTheReference) {
  for (const char* const follower : kFollowers) {
    for (const Window& window : kWindows) expect_agreement(window, follower, "float", 2e-6);
  }
}

TEST(DepthwiseLayers, OfChannelsWithSeveralResultsAgreeWithTheReference) {
  for (const char* const follower : kFollowers) {
    expect_agreement({1, 24, 9, 10, 7, 2, 1, "3, 3, 3, 3", 2}, follower, "float", 4e-6);
    expect_agreement({2, 37, 5, 6, 3, 1, 1, "1, 1, 1, 1", 2}, follower, "float", 2e-6);
    expect_agreement({1, 9, 6, 5, 3, 1, 2, "2, 2, 2, 2", 4}, follower, "float", 2e-6);
    expect_agreement({1, 3, 7, 7, 5, 2, 1, "2, 2, 2, 2", 32}, follower, "float", 2e-6);
  }
}

// The reference rounds every value, the engine what it stores.
TEST(DepthwiseLayers, OfBfloat16AgreeWithTheReference) {
  for (const char* const follower : {kFollowers[0], kFollowers[1], kFollowers[3]}) {
    for (const Window& window : kWindows) expect_agreement(window, follower, "bfloat16", 0.02);
  }
}

TEST(DepthwiseLayers, WithThreeResultsForAChannelAreOthersWork) {
  const ir::Model model = parsed(
      "<ir_version: 10, opset_import: [\"\" : 22]> g (float[1,2,4,4] x) => (y) <float[6,1,1,1] w = {1, 2, 3, 4, 5, 6}> "
      "{ y = Conv<group = 2>(x, w) }");
  const testing_support::EngineRun run = testing_support::run_on_engine(model, window_sine);
  EXPECT_EQ(std::ranges::count(run.tactics, "conv.depthwise"), 0);
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, window_sine), 1e-6), "");
}

TEST(DepthwiseLayers, NaNAndInfinityReachWhatReadsThem) {
  const ir::Model model = drawn_model({1, 16, 9, 20, 3, 1, 1, "1, 1, 1, 1"}, "y = Relu(s)");
  for (const double special : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const auto number = [&](size_t i) { return i == 200 ? special : window_sine(i); };
    EXPECT_EQ(difference(testing_support::run_on_engine(model, number).outputs,
                         testing_support::run_on_reference(model, number), 2e-6),
              "")
        << special;
  }
}

TEST(DepthwiseLayers, BitsDoNotDependOnThreads) {
  const ir::Model model = drawn_model({2, 96, 6, 31, 3, 1, 1, "1, 1, 1, 1"}, "y = Sigmoid(s)");
  std::vector<std::vector<double>> first;
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, window_sine, true);
    EXPECT_EQ(std::ranges::count(run.tactics, "conv.depthwise"), 1);
    if (first.empty()) first = run.outputs;
    EXPECT_EQ(run.outputs, first) << threads;
  }
}

// Codes that differ by one step, where the rest of a layer falls between two.
std::string code_differences(const std::vector<double>& seen, const std::vector<double>& expected) {
  size_t count = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (std::fabs(seen[i] - expected[i]) > 1) return fmt::format("code {}: {}, not {}", i, seen[i], expected[i]);
    if (seen[i] != expected[i]) ++count;
  }
  return count * 100 > seen.size() ? fmt::format("{} codes of {} differ", count, seen.size()) : "";
}

struct Codes {
  const char* type;
  int zero;
  int least, most;
};

// Of weights, and their zero points: of the first channel, and from one channel to the next.
struct CodedWeights {
  bool are_signed = true;
  int zero = 0, step = 0;
};

ir::Model code_model(const Window& w, const Codes& codes, const char* follower, const CodedWeights& of = {}) {
  std::mt19937 random(3);
  const int first = of.are_signed ? -128 : 0;
  std::string weights = fmt::format("{}, {}", first, first + 255), bias = "100", scales = "0.013";
  std::string zeros = fmt::format("{}", of.zero);
  for (int64_t i = 1; i < w.channels; ++i)
    zeros += fmt::format(",{}", (of.zero - first + static_cast<int>(i) * of.step) % 256 + first);
  for (int64_t i = 2; i < w.channels * w.kernel * w.kernel; ++i)
    weights += fmt::format(",{}", static_cast<int>(random() % 256) + first);
  for (int64_t i = 1; i < w.channels; ++i) {
    bias += fmt::format(",{}", static_cast<int>(random() % 2001) - 1000);
    scales += fmt::format(",{}", 0.01 + static_cast<double>(random() % 100) / 20000);
  }
  return parsed(fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 21]> g ({0}[{1},{2},{3},{4}] x) => (y) <{14}[{2},1,{5},{5}] w = {{{6}}}, "
      "int32[{2}] b = {{{7}}}, {14}[{2}] wz = {{{15}}}, float[{2}] ws = {{{8}}}, float[{2}] bs = {{{8}}}, float xs = "
      "{{1}}, {0} xz = {{{9}}}, "
      "float ys = {{0.37}}, uint8 yz = {{117}}, float bys = {{0.9}}, int8 sz = {{-5}}> {{ dx = DequantizeLinear(x, xs, "
      "xz) dw = DequantizeLinear<axis = 0>(w, "
      "ws, wz) db = DequantizeLinear<axis = 0>(b, bs) s = Conv<group = {2}, kernel_shape = [{5}, {5}], strides = "
      "[{10}, "
      "{10}], dilations = [{11}, {11}], pads = [{12}]>(dx, dw, db) {13} }}",
      codes.type, w.batch, w.channels, w.height, w.width, w.kernel, weights, bias, scales, codes.zero, w.stride,
      w.dilation, w.pads, follower, of.are_signed ? "int8" : "uint8", zeros));
}

// By what they are written as: in one step, after another rounding, with a tensor added to them, and as a tape has
// them.
const char* const kCodeFollowers[] = {
    "y = QuantizeLinear(s, ys, yz)",
    "r = Relu(s) y = QuantizeLinear(r, ys, yz)",
    "q = QuantizeLinear(s, ys, yz) d = DequantizeLinear(q, ys, yz) r = Relu(d) y = QuantizeLinear(r, bys, sz)",
    "q = QuantizeLinear(s, ys, yz) d = DequantizeLinear(q, ys, yz) t = Add(d, s) y = QuantizeLinear(t, bys, sz)",
    "g = Sigmoid(s) h = Mul(s, g) y = QuantizeLinear(h, ys, yz)",
};

// One depthwise layer, which gives the reference's codes.
void expect_codes(const ir::Model& model, const Codes& codes, const std::string& what) {
  const auto number = [&](size_t i) {
    const uint64_t drawn = (i + 1) * 0x9E3779B97F4A7C15 >> 32;
    return codes.least + static_cast<double>(drawn % static_cast<uint64_t>(codes.most - codes.least + 1));
  };
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(std::ranges::count(run.tactics, "conv.depthwise"), 1) << what;
  EXPECT_EQ(code_differences(run.outputs[0], testing_support::run_on_reference(model, number)[0]), "") << what;
}

// Sums are exact, also where every code is as large as can be.
TEST(DepthwiseLayers, OfCodesAgreeWithTheReference) {
  std::vector<Window> windows(std::begin(kWindows), std::end(kWindows));
  windows.push_back({1, 1100, 1, 5, 3, 1, 1, "1, 1, 1, 1"});  // more than are computed together
  for (const Window& w : windows) {
    for (const Codes& codes : {Codes{"uint8", 0, 0, 255},
                               {"uint8", 131, 0, 255},
                               {"int8", -7, -128, 127},
                               {"uint8", 255, 255, 255},
                               {"uint8", 0, 255, 255}}) {
      for (const char* const follower : kCodeFollowers) {
        expect_codes(code_model(w, codes, follower), codes,
                     fmt::format("{} {} {} {} {}", codes.type, codes.zero, w.channels, w.kernel, follower));
      }
    }
  }
}

// Where int8 holds the differences of some channels, and where even two numbers of 8 bits do not hold one.
TEST(DepthwiseLayers, OfWeightsWithZeroPointsAgreeWithTheReference) {
  for (const Window& w : kWindows) {
    for (const CodedWeights& weights :
         {CodedWeights{false, 128}, {false, 117}, {false, 3, 83}, {true, -127, 1}, {false, 0}, {false, 255}}) {
      for (const Codes& codes : {Codes{"uint8", 131, 0, 255}, {"int8", -7, -128, 127}, {"uint8", 0, 255, 255}}) {
        for (const char* const follower : {kCodeFollowers[0], kCodeFollowers[4]}) {
          expect_codes(code_model(w, codes, follower, weights), codes,
                       fmt::format("{} {} {} {} {}", codes.type, codes.zero, w.channels, weights.zero, follower));
        }
      }
    }
  }
}

// With a zero point of the data that comes with it.
TEST(DepthwiseLayers, SumsOfCodesAreExact) {
  for (const Window& w : kWindows) {
    for (const char* const type : {"uint8", "int8"}) {
      for (const int zero : {128, 3, 255}) {
        std::string weights = "0, 255";
        std::mt19937 random(5);
        for (int64_t i = 2; i < w.channels * w.kernel * w.kernel; ++i) weights += fmt::format(",{}", random() % 256);
        const ir::Model model = parsed(fmt::format(
            "<ir_version: 10, opset_import: [\"\" : 21]> g ({0}[{1},{2},{3},{4}] x, {0} z) => (y) "
            "<uint8[{2},1,{5},{5}] "
            "w = {{{6}}}, uint8 k = {{{7}}}> {{ y = ConvInteger<group = {2}, kernel_shape = [{5}, {5}], strides = "
            "[{8}, {8}], dilations = [{9}, {9}], pads = [{10}]>(x, w, z, k) }}",
            type, w.batch, w.channels, w.height, w.width, w.kernel, weights, zero, w.stride, w.dilation, w.pads));
        const auto number = [&](size_t i) {
          const uint64_t drawn = (i + 1) * 0x9E3779B97F4A7C15 >> 32;
          return static_cast<double>(drawn % 256) - (type[0] == 'i' ? 128 : 0);
        };
        const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
        EXPECT_EQ(std::ranges::count(run.tactics, "conv.depthwise"), 1) << w.channels;
        EXPECT_EQ(run.outputs, testing_support::run_on_reference(model, number)) << type << " " << w.channels;
      }
    }
  }
}

// Every set of loops, in whole vectors, for all numbers of results.
TEST(DepthwiseKernels, AllInstructionSetsSumWindows) {
  for (const DepthwiseKernels* const kernels : depthwise_kernels()) {
    const size_t channels = 2 * kernels->width;
    for (const size_t advance : {1U, 2U, 3U}) {
      for (size_t results = 1; results <= 14; ++results) {
        std::vector<float> in(4 * 64 * channels);
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 13) - 6;
        std::vector<float> weights(9 * channels);
        for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
        std::vector<float> out(results * channels);
        const auto c = static_cast<int64_t>(channels);
        const DepthwiseSpan span{.in = in.data(),
                                 .line_step = 64 * c,
                                 .pixel_step = c,
                                 .advance = static_cast<int64_t>(advance) * c,
                                 .weights = weights.data(),
                                 .weights_line = 3 * c,
                                 .weights_pixel = c,
                                 .lines = 3,
                                 .columns = 3,
                                 .out = out.data(),
                                 .out_step = c,
                                 .results = results,
                                 .channels = channels};
        kernels->run(DepthwiseTypes::floats, span);
        for (size_t i = 0; i < out.size(); ++i) {
          float sum = 0;
          for (size_t at = 0; at < 9; ++at) {
            sum += in[(at / 3 * 64 + i / channels * advance + at % 3) * channels + i % channels] *
                   weights[at * channels + i % channels];
          }
          ASSERT_EQ(out[i], sum) << kernels->name << " " << results << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
