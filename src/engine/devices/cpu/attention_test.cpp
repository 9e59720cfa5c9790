#include <limits>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double sine(size_t i) { return 2 * std::sin(1.7 * static_cast<double>(i) + 1); }

void expect_attention(const std::string& text, const std::function<double(size_t)>& number = sine) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 21]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"}) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 2e-5), "") << text;
}

struct Size {
  int rows, keys, depth, width;
};
constexpr Size kSizes[] = {{1, 1, 1, 1},   {1, 7, 5, 3},      {2, 300, 64, 32}, {4, 33, 8, 64},
                           {5, 31, 16, 8}, {17, 256, 20, 40}, {130, 40, 7, 32}, {20, 530, 32, 33}};

TEST(Attention, PlainMatrices) {
  for (const auto& [rows, keys, depth, width] : kSizes) {
    expect_attention(
        fmt::format("(float[2,3,{0},{2}] q, float[2,3,{2},{1}] k, float[2,3,{1},{3}] v) => "
                    "(float[2,3,{0},{3}] y) {{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }}",
                    rows, keys, depth, width));
  }
}

TEST(Attention, HeadsThatAreViewsWithScaleAndMask) {
  for (const auto& [rows, keys, depth, width] : kSizes) {
    expect_attention(
        fmt::format("(float[2,{0},3,{2}] a, float[2,{1},3,{2}] b, float[2,{1},3,{3}] c, float[{0},{1}] m) => "
                    "(float[2,{0},3,{3}] y) <float n = {{3}}> {{ q = Transpose<perm = [0,2,1,3]>(a) "
                    "k = Transpose<perm = [0,2,3,1]>(b) v = Transpose<perm = [0,2,1,3]>(c) s = MatMul(q, k) "
                    "t = Div(s, n) u = Add(t, m) p = Softmax(u) o = MatMul(p, v) y = Transpose<perm = [0,2,1,3]>(o) }}",
                    rows, keys, depth, width));
    expect_attention(
        fmt::format("(float[3,{0},{2}] q, float[1,{2},{1}] k, float[1,{1},{3}] v, float[3,1,{1}] m) => "
                    "(float[3,{0},{3}] y) <float n = {{0.5}}> {{ s = MatMul(q, k) t = Mul(n, s) "
                    "u = Add(m, t) p = Softmax<axis = 2>(u) y = MatMul(p, v) }}",
                    rows, keys, depth, width));
  }
}

// Rows of which nothing, some or all is masked, in the first block of keys or in a later one.
TEST(Attention, WhatIsNoNumberStaysSo) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr size_t kRows = 6;
  constexpr size_t kKeys = 600;
  const std::string text = fmt::format(
      "(float[{0},{1}] m, float[1,{0},4] q, float[1,4,{1}] k, float[1,{1},5] v) => (float[1,{0},5] y) "
      "{{ s = MatMul(q, k) u = Add(s, m) p = Softmax(u) y = MatMul(p, v) }}",
      kRows, kKeys);
  const auto mask = [](size_t row, size_t key) {
    const bool is_masked =
        (row == 0) || (row == 1 && key < 256) || (row == 2 && key >= 300) || (row == 3 && key % 3 == 0);
    return is_masked ? -kInfinity : 0.0;
  };
  const size_t masks = kRows * kKeys;
  expect_attention(text, [&](size_t i) { return i < masks ? mask(i / kKeys, i % kKeys) : sine(i); });
  for (const double special : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1e-42}) {
    for (const size_t place : {4 * kKeys + 3, 4 * kKeys + 400, masks + 9, masks + kRows * 4 + 500,
                               masks + kRows * 4 + kKeys * 4 + 7, masks + kRows * 4 + kKeys * 4 + 2900}) {
      expect_attention(text, [&](size_t i) {
        if (i == place) return special;
        return i < masks ? mask(i / kKeys, i % kKeys) : sine(i);
      });
    }
  }
}

void expect_operator(const std::string& text, const std::function<double(size_t)>& number = sine) {
  const ir::Model model = parsed("<ir_version: 11, opset_import: [\"\" : 24]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"}) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 2e-5), "") << text;
}

// Two heads of keys and values for six of queries.
TEST(Attention, Operator) {
  for (const auto& [rows, keys, depth, width] : kSizes) {
    for (const char* const attributes : {"is_causal = 0", "is_causal = 1", "is_causal = 1, scale = 0.3"}) {
      expect_operator(
          fmt::format("(float[2,6,{0},{2}] q, float[2,2,{1},{2}] k, float[2,2,{1},{3}] v) => "
                      "(float[2,6,{0},{3}] y) {{ y = Attention<{4}>(q, k, v) }}",
                      rows, keys, depth, width, attributes));
      expect_operator(
          fmt::format("(float[2,{0},{2}] q, float[2,{1},{3}] k, float[2,{1},{4}] v, float[2,1,{0},{1}] m) "
                      "=> (float[2,{0},{5}] y) {{ y = Attention<{6}, q_num_heads = 6, kv_num_heads = 2>"
                      "(q, k, v, m) }}",
                      rows, keys, 6 * depth, 2 * depth, 2 * width, 6 * width, attributes));
    }
  }
}

// Conditions as masks, of which the first row is all false: it sees nothing and becomes 0.
TEST(Attention, OperatorWithConditions) {
  for (const auto& [rows, keys, depth, width] : kSizes) {
    for (const char* const mask : {"{0},{1}", "3,1,{1}", "2,3,{0},{1}"}) {
      const std::string dims = fmt::format(fmt::runtime(mask), rows, keys);
      expect_operator(fmt::format("(bool[{4}] m, float[2,3,{0},{2}] q, float[2,3,{1},{2}] k, float[2,3,{1},{3}] v) => "
                                  "(float[2,3,{0},{3}] y) {{ y = Attention(q, k, v, m) }}",
                                  rows, keys, depth, width, dims),
                      [keys = static_cast<size_t>(keys), count = static_cast<size_t>(6 * rows * keys)](size_t i) {
                        if (i < keys) return 0.0;
                        return i < count && i % 3 == 0 ? 0.0 : sine(i);
                      });
    }
  }
}

TEST(Attention, OperatorWithMoreRunsOnTheReference) {
  for (const char* const text :
       {"(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v) => (float[1,2,3,4] y) "
        "{ y = Attention<softcap = 2.0>(q, k, v) }",
        "(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v, float[3,4] m) => (float[1,2,3,4] y) "
        "{ y = Attention(q, k, v, m) }",
        "(float[1,2,3,4] q, float[1,2,1,4] k, float[1,2,1,4] v, float[1,2,6,4] p, float[1,2,6,4] w) => "
        "(float[1,2,3,4] y, float[1,2,7,4] pk, float[1,2,7,4] pv) { y, pk, pv = Attention(q, k, v, , p, w) }"}) {
    const ir::Model model = parsed(std::string("<ir_version: 11, opset_import: [\"\" : 24]> g ") + text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
    EXPECT_EQ(run.tactics, std::vector<std::string>{"reference"}) << text;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 0), "") << text;
  }
}

TEST(Attention, OtherFormsAreNoLayer) {
  for (const char* const text :
       {"(float[4,4] q, float[4,4] k, float[4,4] v) => (float[4,4] y, float[4,4] p) "
        "{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }",
        "(float[4,4] q, float[4,4] k, float[4,4] v) => (float[4,4] y) "
        "{ s = MatMul(q, k) p = Softmax<axis = 0>(s) y = MatMul(p, v) }",
        "(float[4,4] q, float[4,4] k) => (float[4,4] y) { s = MatMul(q, k) p = Softmax(s) y = MatMul(p, p) }"}) {
    const ir::Model model = parsed(std::string("<ir_version: 10, opset_import: [\"\" : 21]> g ") + text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
    EXPECT_EQ(run.tactics.size(), 3U) << text;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 1e-5), "") << text;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
