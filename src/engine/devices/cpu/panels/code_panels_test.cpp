#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::sine;

class Text {
 public:
  explicit Text(unsigned seed) : random_(seed) {}
  std::string integers(int64_t count, int least, int most) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      const int drawn = least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
      text += fmt::format("{}{}", i == 0 ? "" : ",", drawn);
    }
    return "{" + text + "}";
  }
  // Now and then such as float16 has.
  std::string scales(int64_t count) {
    std::string text;
    const double unit = random_() % 2 == 0 ? 1e-5 : 0x1p-17;
    for (int64_t i = 0; i < count; ++i) {
      text += fmt::format("{}{:.17f}", i == 0 ? "" : ",", static_cast<double>(1 + random_() % 999) * unit);
    }
    return "{" + text + "}";
  }

 private:
  std::mt19937 random_;
};

void expect_compressed(const std::string& text, const std::function<double(size_t)>& number = sine,
                       double tolerance = 2e-5) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> g " + text);
  const std::vector<std::vector<double>> expected = testing_support::run_on_reference(model, number);
  for (const bool is_strict : {false, true}) {
    const testing_support::EngineRun run = testing_support::run_on_engine(model, number, is_strict);
    EXPECT_EQ(run.tactics, std::vector<std::string>{"product.compressed"}) << text;
    EXPECT_EQ(difference(run.outputs, expected, tolerance), "") << text;
  }
}

struct Type {
  const char* name;
  int least, most;
};
constexpr Type kTypes[] = {{"int8", -128, 127}, {"uint8", 0, 255}, {"int4", -8, 7}, {"uint4", 0, 15}};
constexpr int64_t kRows[] = {1, 3, 8, 9, 21};

TEST(CodePanels, OneScaleForAllOrForEachColumn) {
  Text draw(1);
  for (const Type& type : kTypes) {
    for (const int64_t rows : kRows) {
      const int64_t depth = 1 + rows * 17 % 140;
      const int64_t columns = 1 + rows * 29 % 67;
      const std::string codes = draw.integers(depth * columns, type.least, type.most);
      expect_compressed(
          fmt::format("(float[{0},{1}] x) => (float[{0},{2}] y) <{3}[{1},{2}] c = {4}, float s = {{0.01}}> "
                      "{{ w = DequantizeLinear(c, s) p = MatMul(x, w) y = Tanh(p) }}",
                      rows, depth, columns, type.name, codes));
      expect_compressed(fmt::format(
          "(float[{0},{1}] x) => (float[{0},{2}] y) <{3}[{2},{1}] c = {4}, float[{2}] s = {5}, {3}[{2}] z = {6}, "
          "float[{2}] b = {5}> {{ w = DequantizeLinear<axis = 0>(c, s, z) y = Gemm<transB = 1>(x, w, b) }}",
          rows, depth, columns, type.name, codes, draw.scales(columns), draw.integers(columns, type.least, type.most)));
    }
  }
}

TEST(CodePanels, ResultsOfOtherTypes) {
  Text draw(5);
  for (const int64_t rows : kRows) {
    const int64_t depth = 1 + rows * 17 % 140;
    const int64_t columns = 1 + rows * 29 % 67;
    const std::string codes = draw.integers(depth * columns, -128, 127);
    const auto expect = [&](const char* type, const char* nodes, double tolerance) {
      expect_compressed(
          fmt::format("(float[{0},{1}] x) => ({3}[{0},{2}] y) <int8[{1},{2}] c = {4}, float s = {{0.01}}, float u = "
                      "{{0.0717}}, uint8 n = {{90}}> {{ w = DequantizeLinear(c, s) p = MatMul(x, w) {5} }}",
                      rows, depth, columns, type, codes, nodes),
          sine, tolerance);
    };
    expect("uint8", "y = QuantizeLinear(p, u, n)", 0);
    expect("uint8", "q = QuantizeLinear(p, u, n) d = DequantizeLinear(q, u, n) e = Erf(d) y = QuantizeLinear(e, u, n)",
           0);
    expect("float16", "y = Cast<to = 10>(p)", 1e-3);  // sums in another order may fall on either side of a middle
  }
}

TEST(CodePanels, BlocksOfRows) {
  Text draw(2);
  for (const Type& type : kTypes) {
    for (const int64_t block : {1, 5, 16, 32, 200}) {
      const int64_t rows = block % 11 + 1;
      const int64_t depth = 3 * block - block / 2;
      const int64_t columns = 40;
      const int64_t blocks = (depth + block - 1) / block;
      const std::string codes = draw.integers(depth * columns, type.least, type.most);
      const std::string zeros = draw.integers(blocks * columns, type.least, type.most);
      expect_compressed(
          fmt::format("(float[{0},{1}] x) => (float[{0},{2}] y) <{3}[{1},{2}] c = {4}, float[{5},{2}] s = {6}, "
                      "{3}[{5},{2}] z = {7}> "
                      "{{ w = DequantizeLinear<axis = 0, block_size = {8}>(c, s, z) y = MatMul(x, w) }}",
                      rows, depth, columns, type.name, codes, blocks, draw.scales(blocks * columns), zeros, block));
      expect_compressed(
          fmt::format("(float[{0},{1}] x) => (float[{0},{2}] y) <{3}[{2},{1}] c = {4}, float[{2},{5}] s = {6}> "
                      "{{ w = DequantizeLinear<axis = 1, block_size = {7}>(c, s) t = Transpose(w) y = MatMul(x, t) }}",
                      rows, depth, columns, type.name, codes, blocks, draw.scales(blocks * columns), block));
    }
  }
}

TEST(CodePanels, MatMulNBits) {
  Text draw(3);
  for (const int64_t bits : {4, 8}) {
    for (const int64_t rows : kRows) {
      const int64_t block = 16 << (rows % 2);
      const int64_t depth = 3 * block - 4;
      const int64_t columns = 35;
      const std::string codes = draw.integers(columns * 3 * block * bits / 8, 0, 255);
      const std::string scales = draw.scales(columns * 3);
      const std::string call = fmt::format("com.microsoft.MatMulNBits<K = {}, N = {}, bits = {}, block_size = {}>",
                                           depth, columns, bits, block);
      const std::string head = fmt::format(
          "(float[2,{0},{1}] x) => (float[2,{0},{2}] y) <uint8[{2},3,{3}] c = {4}, "
          "float[{5}] s = {6}",
          rows, depth, columns, block * bits / 8, codes, columns * 3, scales);
      const int64_t zero_bytes = columns * (bits == 4 ? 2 : 3);
      expect_compressed(head + "> { y = " + call + "(x, c, s) }");
      expect_compressed(fmt::format("{}, uint8[{}] z = {}> {{ p = {}(x, c, s, z) y = Sigmoid(p) }}", head, zero_bytes,
                                    draw.integers(zero_bytes, 0, 255), call));
      expect_compressed(fmt::format("{}, float[{}] z = {}, float[{}] b = {}> {{ y = {}(x, c, s, z, , b) }}", head,
                                    columns * 3, draw.scales(columns * 3), columns, draw.scales(columns), call));
    }
  }
}

TEST(CodePanels, WhatIsNoNumberStaysSo) {
  Text draw(4);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double special : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1e-42, 1e37}) {
    for (const int64_t rows : {2, 9}) {
      expect_compressed(fmt::format("(float[{0},24] x) => (float[{0},33] y) <int4[24,33] c = {1}, float[3,33] s = {2}> "
                                    "{{ w = DequantizeLinear<axis = 0, block_size = 8>(c, s) y = MatMul(x, w) }}",
                                    rows, draw.integers(24 * 33, -8, 7), draw.scales(99)),
                        [&](size_t i) { return i == 30 ? special : sine(i); });
    }
  }
}

// Weights that something else reads too, and scales along the other axis.
TEST(CodePanels, OtherFormsAreNoLayer) {
  for (const char* const text :
       {"(float[1,2] x) => (float[1,2] y, float[2,2] w) <int8[2,2] c = {1,2,3,4}, float s = {0.5}> "
        "{ w = DequantizeLinear(c, s) y = MatMul(x, w) }",
        "(float[1,2] x) => (float[1,2] y) <int8[2,2] c = {1,2,3,4}, float[2] s = {0.5,1}> "
        "{ w = DequantizeLinear<axis = 0>(c, s) y = MatMul(x, w) }",
        "(float[2] x) => (float[2] y) <int8[2,2] c = {1,2,3,4}, float s = {0.5}> "
        "{ w = DequantizeLinear(c, s) y = MatMul(x, w) }"}) {
    const ir::Model model = parsed(std::string("<ir_version: 10, opset_import: [\"\" : 21]> g ") + text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
    EXPECT_FALSE(run.tactics.front().starts_with("product.compressed")) << text;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 1e-6), "") << text;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
