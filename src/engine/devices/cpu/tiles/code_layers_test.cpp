#include "engine/devices/cpu/tiles/code_layers.h"

#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::parsed;

// Codes as text; `drawn` gives each.
template <typename Draw>
std::string list(int64_t count, Draw&& drawn) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", drawn());
  return "{" + text + "}";
}

// What may follow a product, from `s` to `y`: its type, and the text of nodes. Scales are no powers of two, so that
// sums hardly fall between two codes.
struct Follower {
  const char* type;
  const char* nodes;
};
const Follower kTiledFollowers[] = {
    {"float", "y = Identity(s)"},
    {"uint8", "y = QuantizeLinear(s, u, n)"},
    {"int8", "r = Relu(s) y = QuantizeLinear(r, u, m)"},
    {"uint8",
     "low = Constant<value_float = -1.5>() high = Constant<value_float = 9.5>() c = Clip(s, low, high) "
     "y = QuantizeLinear(c, u, n)"},
    {"uint8",
     "low = Constant<value_float = 1.5>() high = Constant<value_float = 9.5>() c = Clip(s, low, high) "
     "y = QuantizeLinear(c, u, n)"},
    {"uint8", "o = DequantizeLinear(other, t, k) a = Add(s, o) r = Relu(a) y = QuantizeLinear(r, u)"},
    {"int8",
     "o = DequantizeLinear(other, t, k) q = QuantizeLinear(s, v, m) d = DequantizeLinear(q, v, m) "
     "a = Add(o, d) y = QuantizeLinear(a, u, m)"},
    {"float", "q = QuantizeLinear(s, v, m) y = DequantizeLinear(q, v, m)"},
    {"float", "o = DequantizeLinear(other, t, k) y = Add(o, s)"},
    {"uint8", "g = Sigmoid(s) h = Mul(s, g) y = QuantizeLinear(h, u, n)"},
    {"float", "g = Sigmoid(s) y = Mul(s, g)"},
    // Functions of codes: of those that sums become, behind an addition, and behind a function of numbers.
    {"uint8", "q = QuantizeLinear(s, v, m) d = DequantizeLinear(q, v, m) h = HardSwish(d) y = QuantizeLinear(h, u, n)"},
    {"int8",
     "q = QuantizeLinear(s, u, n) d = DequantizeLinear(q, u, n) g = Div(d, root) e = Erf(g) a = Add(e, one) h = Mul(d, "
     "a) "
     "f = Mul(h, half) y = QuantizeLinear(f, v, m)"},
    {"uint8",
     "o = DequantizeLinear(other, t, k) a = Add(s, o) q = QuantizeLinear(a, v, m) d = DequantizeLinear(q, v, m) "
     "h = Sigmoid(d) e = Mul(h, d) y = QuantizeLinear(e, u, n)"},
    {"uint8",
     "a = Tanh(s) q = QuantizeLinear(a, t, k) d = DequantizeLinear(q, t, k) e = Exp(d) y = QuantizeLinear(e, u, n)"},
    {"uint8", "g = Div(s, root) e = Erf(g) a = Add(e, one) h = Mul(s, a) f = Mul(h, half) y = QuantizeLinear(f, u, n)"},
};
constexpr const char* kNumbers =
    "float t = {0.0313}, int8 k = {-7}, float u = {0.0717}, uint8 n = {3}, "
    "int8 m = {-5}, float v = {0.0923}, float root = {1.4142135}, float one = {1}, "
    "float half = {0.5}";

// What is multiplied, and the quantiser of what comes in.
struct Data {
  const char* type;
  int zero;
  const char* codes;  // which ones are drawn: `all`, or the ends of the type
};
const Data kData[] = {{"uint8", 0, "all"}, {"uint8", 131, "all"},  {"uint8", 255, "ends"},
                      {"int8", 0, "all"},  {"int8", -128, "ends"}, {"int8", 55, "all"}};

class CodedLayers : public testing::Test {
 protected:
  std::function<double(size_t)> drawn(const Data& data) {
    const bool is_signed = data.type[0] == 'i';
    const bool are_ends = std::string_view(data.codes) == "ends";
    const unsigned seed = random_();
    return [=](size_t i) {
      std::mt19937 one(static_cast<unsigned>(i) * 7919 + seed);
      const auto code = static_cast<int>(are_ends ? one() % 2 * 255 : one() % 256);
      return static_cast<double>(is_signed ? code - 128 : code);
    };
  }
  std::string weights(int64_t count, const Data& data) {
    const bool are_ends = std::string_view(data.codes) == "ends";
    return list(count, [&] {
      return are_ends ? static_cast<int>(random_() % 2) * 255 - 128 : static_cast<int>(random_() % 256) - 128;
    });
  }
  std::string scales(int64_t count, int64_t depth) {
    return list(count,
                [&] { return (1 + static_cast<double>(random_() % 100) / 37) / static_cast<double>(depth * 20); });
  }
  std::string biases(int64_t count) {
    return list(count, [&] { return (static_cast<int>(random_() % 41) - 20.5) / 7; });  // none is 0
  }

  // On the engine by this tactic, and on the reference: the same codes but for a few that are one apart.
  void expect_tactic(const std::string& text, const std::string& tactic, const std::function<double(size_t)>& number,
                     bool makes_floats) {
    const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 21]> g " + text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
    EXPECT_EQ(std::ranges::count(run.tactics, tactic), 1) << text.substr(0, 200);
    const std::vector<std::vector<double>> expected = testing_support::run_on_reference(model, number);
    ASSERT_EQ(run.outputs[0].size(), expected[0].size());
    size_t others = 0;
    for (size_t i = 0; i < expected[0].size(); ++i) {
      const double distance = std::fabs(run.outputs[0][i] - expected[0][i]);
      if (makes_floats && distance <= 1e-4 * (1 + std::fabs(expected[0][i]))) continue;
      others += distance > 0 ? 1 : 0;
      ASSERT_LE(distance, makes_floats ? 0.0924 : 1)
          << "element " << i << " of " << text.substr(0, 200) << text.substr(text.size() - 200);
    }
    EXPECT_LE(others, expected[0].size() / 100) << text.substr(0, 200);
  }

  std::mt19937 random_{11};
};

TEST_F(CodedLayers, MatricesAgreeWithTheReference) {
  for (const Follower& follower : kTiledFollowers) {
    for (const auto& [rows, depth, columns] :
         {std::tuple(9, 1, 1), {17, 6, 64}, {49, 800, 70}, {131, 20, 15}, {13, 3300, 17}, {300, 4, 200}}) {
      const Data& data = kData[random_() % std::size(kData)];
      const std::string dims = fmt::format("{},{}", rows, columns);
      expect_tactic(fmt::format("({}[{},{}] x, int8[{}] other) => ({}[{}] y) <float s0 = {{0.1}}, {} z = {{{}}}, "
                                "int8[{},{}] w = {}, float[{}] s1 = {}, float[{}] b = {}, {}> "
                                "{{ xf = DequantizeLinear(x, s0, z) wf = DequantizeLinear<axis = 1>(w, s1) "
                                "p = MatMul(xf, wf) s = Add(p, b) {} }}",
                                data.type, rows, depth, dims, follower.type, dims, data.type, data.zero, depth, columns,
                                weights(depth * columns, data), columns, scales(columns, depth), columns,
                                biases(columns), kNumbers, follower.nodes),
                    "product.codes", drawn(data), follower.type[0] == 'f');
    }
  }
}

TEST_F(CodedLayers, OfGemmsWithTransposedWeights) {
  for (const Data& data : kData) {
    expect_tactic(
        fmt::format("({}[20,36] x) => (uint8[20,70] y) <float s0 = {{0.1}}, {} z = {{{}}}, int8[70,36] w = {}, "
                    "float s1 = {{0.0013}}, float[70] b = {}, {}> {{ xf = DequantizeLinear(x, s0, z) "
                    "wf = DequantizeLinear(w, s1) s = Gemm<transB = 1>(xf, wf, b) y = QuantizeLinear(s, u, n) }}",
                    data.type, data.type, data.zero, weights(70 * 36, data), biases(70), kNumbers),
        "product.codes", drawn(data), false);
  }
}

// Sums of any zero point, as whole numbers and as floats.
TEST_F(CodedLayers, IntegerSumsAreExact) {
  for (const Data& data : kData) {
    for (const char* const end : {"y = Cast<to = 1>(i)", "f = Cast<to = 1>(i) y = Mul(f, c)"}) {
      expect_tactic(fmt::format("({0}[17,1333] x, {0} z, float c) => (float[17,70] y) <int8[1333,70] w = {1}> "
                                "{{ i = MatMulInteger(x, w, z) {2} }}",
                                data.type, weights(1333 * 70, data), end),
                    "product.codes", drawn(data), true);
    }
    expect_tactic(fmt::format("({0}[17,36] x, {0} z) => (int32[17,70] y) <int8[36,70] w = {1}> "
                              "{{ y = MatMulInteger(x, w, z) }}",
                              data.type, weights(36 * 70, data)),
                  "product.codes", drawn(data), false);
  }
}

// What a convolution is drawn from.
struct Draw {
  int64_t batch, channels, out_channels, height, width, kernel, stride, dilation;
  const char* pads;
};
const Draw kDrawn[] = {
    {1, 16, 64, 7, 7, 1, 1, 1, ""},
    {2, 5, 70, 9, 4, 1, 1, 1, ""},
    {1, 20, 33, 9, 11, 1, 2, 1, ""},
    {1, 12, 17, 9, 10, 1, 2, 1, ", pads = [1, 1, 0, 1]"},
    {2, 7, 16, 10, 8, 1, 3, 1, ", pads = [2, 1, 1, 2]"},
    {1, 900, 20, 1, 1, 1, 1, 1, ""},
    {1, 3, 17, 40, 40, 1, 1, 1, ", pads = [1, 0, 2, 1]"},
    {1, 3, 64, 30, 30, 7, 2, 1, ", pads = [3, 3, 3, 3]"},
    {2, 16, 20, 7, 9, 3, 1, 1, ", auto_pad = \"SAME_LOWER\""},
    {1, 130, 65, 7, 7, 3, 1, 1, ", pads = [1, 1, 1, 1]"},
    {1, 8, 16, 12, 12, 3, 1, 3, ", pads = [2, 0, 0, 5]"},
    {1, 1, 1, 5, 5, 5, 1, 1, ""},
    {1, 800, 20, 3, 3, 2, 1, 1, ""},
    {2, 3, 32, 11, 13, 3, 2, 2, ", pads = [1, 2, 3, 0]"},
    {1, 1024, 24, 5, 5, 3, 1, 1, ", pads = [1, 1, 1, 1]"},
    // Pieces that begin in the middle of a line.
    {1, 20, 33, 41, 25, 1, 2, 1, ", pads = [1, 1, 0, 1]"},
    {2, 24, 40, 37, 29, 1, 1, 1, ""},
};

TEST_F(CodedLayers, ConvolutionsAgreeWithTheReference) {
  for (const Follower& follower : kTiledFollowers) {
    for (const Draw& d : kDrawn) {
      const Data& data = kData[random_() % std::size(kData)];
      const bool adds = std::string_view(follower.nodes).find("other") != std::string_view::npos;
      if (adds && (d.stride > 1 || d.kernel > 1 || d.pads[0] != 0)) continue;  // of another shape than the data
      const int64_t depth = d.channels * d.kernel * d.kernel;
      expect_tactic(
          fmt::format("({}[{},{},{},{}] x{}) => ({}[{},{},oh,ow] y) <float s0 = {{0.1}}, {} z = {{{}}}, "
                      "int8[{},{},{},{}] w = {}, float[{}] s1 = {}, float[{}] b = {}, {}> "
                      "{{ xf = DequantizeLinear(x, s0, z) wf = DequantizeLinear<axis = 0>(w, s1) {} "
                      "s = Conv<kernel_shape = [{}, {}], strides = [{}, {}], dilations = [{}, {}]{}>(xf, wf, b) {} }}",
                      data.type, d.batch, d.channels, d.height, d.width,
                      adds && d.pads[0] == 0
                          ? fmt::format(", int8[{},{},{},{}] other", d.batch, d.out_channels, d.height, d.width)
                          : "",
                      follower.type, d.batch, d.out_channels, data.type, data.zero, d.out_channels, d.channels,
                      d.kernel, d.kernel, weights(d.out_channels * depth, data), d.out_channels,
                      scales(d.out_channels, depth), d.out_channels, biases(d.out_channels), kNumbers, "", d.kernel,
                      d.kernel, d.stride, d.stride, d.dilation, d.dilation, d.pads, follower.nodes),
          "conv.codes", drawn(data), follower.type[0] == 'f');
    }
  }
}

// Weights of either type, with zero points of all, of each channel, or so far from the codes that int8 holds no
// differences.
struct Weights {
  const char* type;
  int least, greatest;        // code
  int zero;                   // of the first channel
  bool has_one_zero = false;  // for all channels
};
const Weights kWeights[] = {{"uint8", 0, 255, 128, true}, {"uint8", 0, 255, 117, true}, {"uint8", 0, 255, 0, true},
                            {"uint8", 0, 255, 255, true}, {"uint8", 0, 255, 3},         {"int8", -128, 127, -128, true},
                            {"int8", -128, 127, 90},      {"uint8", 60, 190, 120}};

class LayersOfZeroPoints : public CodedLayers {
 protected:
  // Of a DequantizeLinear or an operator of integers, for so many channels.
  std::string zeros(int64_t channels, const Weights& weights) {
    if (weights.has_one_zero) return fmt::format("{{{}}}", weights.zero);
    const int first = weights.least < -1 ? -128 : 0;
    int zero = weights.zero - first;
    return list(channels, [&] { return std::exchange(zero, (zero + 83) % 256) + first; });
  }
  std::string codes(int64_t count, const Weights& weights) {
    return list(count, [&] {
      const int among = weights.greatest - weights.least + 1;
      return random_() % 4 == 0 ? (random_() % 2 == 0 ? weights.least : weights.greatest)
                                : weights.least + static_cast<int>(random_() % static_cast<unsigned>(among));
    });
  }
  std::string dims_of_zeros(int64_t channels, const Weights& weights) {
    return weights.has_one_zero ? "" : fmt::format("[{}]", channels);
  }
  std::string scales_like_zeros(int64_t channels, int64_t depth, const Weights& weights) {
    return scales(weights.has_one_zero ? 1 : channels, depth);
  }
};

TEST_F(LayersOfZeroPoints, MatricesAgreeWithTheReference) {
  for (const Weights& weights : kWeights) {
    for (const auto& [rows, depth, columns] :
         {std::tuple(9, 1, 1), {17, 6, 64}, {49, 800, 70}, {13, 3300, 17}, {300, 4, 200}}) {
      const Follower& end = kTiledFollowers[random_() % std::size(kTiledFollowers)];
      const Data& data = kData[random_() % std::size(kData)];
      const std::string dims = fmt::format("{},{}", rows, columns);
      const std::string of_zeros = dims_of_zeros(columns, weights);
      expect_tactic(
          fmt::format("({}[{},{}] x, int8[{}] other) => ({}[{}] y) <float s0 = {{0.1}}, {} z = {{{}}}, "
                      "{}[{},{}] w = {}, float{} s1 = {}, {}{} k1 = {}, float[{}] b = {}, {}> "
                      "{{ xf = DequantizeLinear(x, s0, z) wf = DequantizeLinear<axis = 1>(w, s1, k1) "
                      "p = MatMul(xf, wf) s = Add(p, b) {} }}",
                      data.type, rows, depth, dims, end.type, dims, data.type, data.zero, weights.type, depth, columns,
                      codes(depth * columns, weights), of_zeros, scales_like_zeros(columns, depth, weights),
                      weights.type, of_zeros, zeros(columns, weights), columns, biases(columns), kNumbers, end.nodes),
          "product.codes", drawn(data), end.type[0] == 'f');
    }
  }
}

TEST_F(LayersOfZeroPoints, GemmsAgreeWithTheReference) {
  for (const Weights& weights : kWeights) {
    const Data& data = kData[random_() % std::size(kData)];
    expect_tactic(fmt::format("({}[20,36] x) => (uint8[20,70] y) <float s0 = {{0.1}}, {} z = {{{}}}, {}[70,36] w = {}, "
                              "float{} s1 = {}, {}{} k1 = {}, float[70] b = {}, {}> {{ xf = DequantizeLinear(x, s0, z) "
                              "wf = DequantizeLinear<axis = 0>(w, s1, k1) s = Gemm<transB = 1>(xf, wf, b) "
                              "y = QuantizeLinear(s, u, n) }}",
                              data.type, data.type, data.zero, weights.type, codes(70 * 36, weights),
                              dims_of_zeros(70, weights), scales_like_zeros(70, 36, weights), weights.type,
                              dims_of_zeros(70, weights), zeros(70, weights), biases(70), kNumbers),
                  "product.codes", drawn(data), false);
  }
}

TEST_F(LayersOfZeroPoints, ConvolutionsAgreeWithTheReference) {
  const Follower* const ends[] = {&kTiledFollowers[0], &kTiledFollowers[1], &kTiledFollowers[9]};
  for (const Weights& weights : kWeights) {
    for (const Draw& d : kDrawn) {
      const Follower& end = *ends[random_() % std::size(ends)];
      const Data& data = kData[random_() % std::size(kData)];
      const int64_t depth = d.channels * d.kernel * d.kernel;
      const std::string of_zeros = dims_of_zeros(d.out_channels, weights);
      expect_tactic(
          fmt::format("({}[{},{},{},{}] x) => ({}[{},{},oh,ow] y) <float s0 = {{0.1}}, {} z = {{{}}}, "
                      "{}[{},{},{},{}] w = {}, float{} s1 = {}, {}{} k1 = {}, float[{}] b = {}, {}> "
                      "{{ xf = DequantizeLinear(x, s0, z) wf = DequantizeLinear<axis = 0>(w, s1, k1) "
                      "s = Conv<kernel_shape = [{}, {}], strides = [{}, {}], dilations = [{}, {}]{}>(xf, wf, b) {} }}",
                      data.type, d.batch, d.channels, d.height, d.width, end.type, d.batch, d.out_channels, data.type,
                      data.zero, weights.type, d.out_channels, d.channels, d.kernel, d.kernel,
                      codes(d.out_channels * depth, weights), of_zeros,
                      scales_like_zeros(d.out_channels, depth, weights), weights.type, of_zeros,
                      zeros(d.out_channels, weights), d.out_channels, biases(d.out_channels), kNumbers, d.kernel,
                      d.kernel, d.stride, d.stride, d.dilation, d.dilation, d.pads, end.nodes),
          "conv.codes", drawn(data), end.type[0] == 'f');
    }
  }
}

TEST_F(LayersOfZeroPoints, SumsOfProductsAreExact) {
  for (const Weights& weights : kWeights) {
    for (const char* const end : {"y = Identity(i)", "y = Cast<to = 1>(i)", "f = Cast<to = 1>(i) y = Mul(f, c)"}) {
      const Data& data = kData[random_() % std::size(kData)];
      const bool makes_floats = end[4] != 'I';
      expect_tactic(fmt::format("({0}[17,133] x, {0} z, float c) => ({5}[17,70] y) <{1}[133,70] w = {2}, {1}{3} k = "
                                "{4}> {{ i = MatMulInteger(x, w, z, k) {6} }}",
                                data.type, weights.type, codes(133 * 70, weights), dims_of_zeros(70, weights),
                                zeros(70, weights), makes_floats ? "float" : "int32", end),
                    "product.codes", drawn(data), makes_floats);
    }
  }
}

// Of any zero point of the data, by which pictures are padded too.
TEST_F(LayersOfZeroPoints, SumsOfConvolutionsAreExact) {
  const char* const ends[] = {"y = Identity(i)", "y = Cast<to = 1>(i)",
                              "f = Cast<to = 1>(i) g = Mul(f, c) y = Add(g, b)"};
  for (const Weights& weights : kWeights) {
    for (const Draw& d : kDrawn) {
      const Data& data = kData[random_() % std::size(kData)];
      const int64_t depth = d.channels * d.kernel * d.kernel;
      const char* const end = ends[random_() % std::size(ends)];
      const bool makes_floats = end[4] != 'I';
      expect_tactic(
          fmt::format("({0}[{1},{2},{3},{4}] x, {0} z, float c) => ({5}[{1},{6},oh,ow] y) <{7}[{6},{2},{8},{8}] w = "
                      "{9}, {7}{10} k = {11}, float[1,{6},1,1] b = {12}> {{ i = ConvInteger<kernel_shape = [{8}, {8}], "
                      "strides = [{13}, {13}], dilations = [{14}, {14}]{15}>(x, w, z, k) {16} }}",
                      data.type, d.batch, d.channels, d.height, d.width, makes_floats ? "float" : "int32",
                      d.out_channels, weights.type, d.kernel, codes(d.out_channels * depth, weights),
                      dims_of_zeros(d.out_channels, weights), zeros(d.out_channels, weights), biases(d.out_channels),
                      d.stride, d.dilation, d.pads, end),
          "conv.codes", drawn(data), makes_floats);
    }
  }
}

// What is quantised again lies as the convolutions have it: codes are turned before the first, floats behind the last.
TEST_F(LayersOfZeroPoints, PicturesBetweenConvolutionsAreNotTurned) {
  const Weights& of = kWeights[1];
  const ir::Model model = parsed(fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1,5,6,7] x) => (float[1,5,6,7] y) <uint8[5,5,3,3] w = {}, "
      "uint8 k = {{117}}, float s = {{0.01}}> {{ a, as, az = DynamicQuantizeLinear(x) "
      "b = ConvInteger<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(a, w, az, k) c = Cast<to = 1>(b) d = Mul(c, s) "
      "e = Mul(d, as) f, fs, fz = DynamicQuantizeLinear(e) "
      "h = ConvInteger<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(f, w, fz, k) i = Cast<to = 1>(h) j = Mul(i, s) "
      "y = Mul(j, fs) }}",
      codes(5 * 5 * 9, of)));
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  EXPECT_EQ(run.tactics, (std::vector<std::string>{"quantize.dynamic", "copy", "conv.codes", "quantize.dynamic",
                                                   "conv.codes", "copy"}));
  const std::vector<std::vector<double>> expected = testing_support::run_on_reference(model, testing_support::sine);
  EXPECT_EQ(testing_support::difference(run.outputs, expected, 1e-5), "");
}

// Each group of channels by itself.
TEST_F(LayersOfZeroPoints, ConvolutionsInGroupsAgreeWithTheReference) {
  for (const Weights& weights : {Weights{"int8", -128, 127, 0, true}, Weights{"uint8", 0, 255, 3}}) {
    for (const auto& [channels, outs, groups] :
         {std::tuple(8, 12, 2), {64, 64, 16}, {15, 6, 3}, {32, 200, 2}, {6, 12, 6}}) {
      for (const auto& [kernel, stride] : {std::pair(1, 1), {3, 1}, {3, 2}, {1, 2}}) {
        for (const size_t follower : {0U, 1U, 9U}) {
          const Follower& end = kTiledFollowers[follower];
          const Data& data = kData[random_() % std::size(kData)];
          const int64_t depth = channels / groups * kernel * kernel;
          const std::string of_zeros = dims_of_zeros(outs, weights);
          expect_tactic(
              fmt::format("({}[2,{},7,9] x) => ({}[2,{},oh,ow] y) <float s0 = {{0.1}}, {} z = {{{}}}, {}[{},{},{},{}] "
                          "w = {}, float{} s1 = {}, {}{} k1 = {}, float[{}] b = {}, {}> {{ xf = DequantizeLinear(x, "
                          "s0, z) wf = DequantizeLinear<axis = 0>(w, s1, k1) s = Conv<kernel_shape = [{}, {}], group = "
                          "{}, strides = [{}, {}], pads = [{}, 0, 1, 0]>(xf, wf, b) {} }}",
                          data.type, channels, end.type, outs, data.type, data.zero, weights.type, outs,
                          channels / groups, kernel, kernel, codes(outs * depth, weights), of_zeros,
                          scales_like_zeros(outs, depth, weights), weights.type, of_zeros, zeros(outs, weights), outs,
                          biases(outs), kNumbers, kernel, kernel, groups, stride, stride, kernel / 2, end.nodes),
              "conv.codes_in_groups", drawn(data), end.type[0] == 'f');
        }
      }
    }
  }
}

TEST_F(CodedLayers, BitsDoNotDependOnThreads) {
  const Data data = {"uint8", 3, "all"};
  const std::function<double(size_t)> number = drawn(data);
  const ir::Model model =
      parsed(fmt::format("<ir_version: 10, opset_import: [\"\" : 21]> g (uint8[1,32,19,17] x) => (y) <float s0 = "
                         "{{0.1}}, uint8 z = {{3}}, "
                         "int8[150,32,3,3] w = {}, float s1 = {{0.0013}}, {}> {{ xf = DequantizeLinear(x, s0, z) "
                         "wf = DequantizeLinear(w, s1) s = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(xf, wf) "
                         "y = QuantizeLinear(s, u, n) }}",
                         weights(150 * 32 * 9, data), kNumbers));
  std::vector<std::vector<double>> first;
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, number, true);
    if (first.empty()) first = run.outputs;
    EXPECT_EQ(run.outputs, first) << threads;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
