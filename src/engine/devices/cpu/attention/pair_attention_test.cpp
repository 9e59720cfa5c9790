// Attention of bfloat16 against the reference of float32, and masks that hide keys at the end.
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"
#include "tensor/casts.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::EngineRun;
using testing_support::parsed;
using Number = std::function<double(size_t)>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kWeightRounding = 1.0 / 256;  // of bfloat16: of weights and of results, half of it each

double pair_sine(size_t i) { return 2 * std::sin(1.7 * static_cast<double>(i) + 1); }

double rounded(double x) {
  std::byte bits[2];
  tensor::store(tensor::DType::bfloat16, std::span(&x, 1), 0, bits);
  tensor::load(tensor::DType::bfloat16, bits, 0, std::span(&x, 1));
  return x;
}

// With every `T` before a bracket as this type.
ir::Model model_of(std::string text, const std::string& type) {
  for (size_t at = text.find("T["); at != std::string::npos; at = text.find("T[", at + type.size()))
    text.replace(at, 1, type);
  return parsed("<ir_version: 10, opset_import: [\"\" : 21]> g " + text);
}

EngineRun run_attention(const std::string& text, const std::string& type, const Number& number,
                        bool is_strict = false) {
  EngineRun run = testing_support::run_on_engine(model_of(text, type), number, is_strict);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"}) << text;
  return run;
}

// Both types against the reference of float32, which computes in float64.
void expect_both(const std::string& text, const Number& number = pair_sine) {
  const Number same = [&](size_t i) { return rounded(number(i)); };
  const auto expected = testing_support::run_on_reference(model_of(text, "float"), same);
  EXPECT_EQ(difference(run_attention(text, "float", same).outputs, expected, 2e-5), "") << text;
  EXPECT_EQ(difference(run_attention(text, "bfloat16", same).outputs, expected, kWeightRounding), "") << text;
}

struct Size {
  int rows, keys, depth, width;
};
constexpr Size kSizes[] = {{1, 1, 1, 1},      {5, 7, 5, 3},     {2, 300, 64, 32},  {4, 33, 8, 64},   {5, 31, 16, 8},
                           {17, 256, 20, 40}, {130, 40, 7, 32}, {20, 530, 32, 33}, {33, 65, 63, 65}, {7, 15, 2, 1}};

TEST(PairAttention, Matrices) {
  for (const auto& [rows, keys, depth, width] : kSizes) {
    expect_both(
        fmt::format("(T[2,3,{0},{2}] q, T[2,3,{2},{1}] k, T[2,3,{1},{3}] v) => (T[2,3,{0},{3}] y) "
                    "{{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }}",
                    rows, keys, depth, width));
    expect_both(
        fmt::format("(T[2,{0},3,{2}] a, T[2,{1},3,{2}] b, T[2,{1},3,{3}] c, T[{0},{1}] m) => (T[2,{0},3,{3}] y) "
                    "<T[1] n = {{3.0}}> {{ q = Transpose<perm = [0,2,1,3]>(a) k = Transpose<perm = [0,2,3,1]>(b) "
                    "v = Transpose<perm = [0,2,1,3]>(c) s = MatMul(q, k) t = Div(s, n) u = Add(t, m) p = Softmax(u) "
                    "o = MatMul(p, v) y = Transpose<perm = [0,2,1,3]>(o) }}",
                    rows, keys, depth, width));
  }
}

std::string shared_heads(const Size& size, const std::string& mask) {
  return fmt::format(
      "(T[{0},{1}] m, T[1,6,{0},{2}] q, T[1,2,{1},{2}] a, T[1,2,{1},{3}] b) => (T[1,6,{0},{3}] y) "
      "<int64[6] each = {{0,0,0,1,1,1}}, T[1] n = {{0.25}}> {{ k = Gather<axis = 1>(a, each) "
      "v = Gather<axis = 1>(b, each) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) {4} p = Softmax(u) "
      "y = MatMul(p, v) }}",
      size.rows, size.keys, size.depth, size.width, mask);
}
constexpr const char* kMasked = "d = Mul(s, n) u = Add(d, m)";

TEST(PairAttention, RandomShapes) {
  std::mt19937 random(11);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int i = 0; i < 40; ++i) {
    const Size size{draw(1, 3) == 1 ? draw(1, 4) : draw(5, 150), draw(1, 600), draw(1, 80), draw(1, 80)};
    const auto masks = static_cast<size_t>(size.rows * size.keys);
    expect_both(shared_heads(size, kMasked),
                [&](size_t at) { return at < masks && at % 4 == 0 ? -kInfinity : pair_sine(at) / 2; });
  }
}

// A mask that hides the last keys of rows, by numbers of several sizes; some rows begin hidden.
TEST(PairAttention, KeysHiddenAtTheEnd) {
  constexpr Size kSize{90, 400, 24, 40};
  for (const double hidden : {-10000.0, -kInfinity, -3e38, -500.0, -50.0}) {
    for (const int first : {1, 30, 200}) {
      for (const int begin : {0, 300}) {
        const auto mask = [&](int row, int key) {
          return (key < begin && row % 7 == 2) || key >= first + row ? hidden : 0.0;
        };
        expect_both(shared_heads(kSize, kMasked), [&](size_t at) {
          const auto row = static_cast<int>(at / kSize.keys);
          return row < kSize.rows ? mask(row, static_cast<int>(at % kSize.keys)) : pair_sine(at) / 2;
        });
      }
    }
  }
}

// The last keys have scores that are larger than what the mask takes away.
TEST(PairAttention, LargeScoresAreNotHidden) {
  constexpr Size kSize{20, 300, 16, 8};
  constexpr size_t kMasks = kSize.rows * kSize.keys;
  constexpr size_t kQueries = 6 * kSize.rows * kSize.depth;
  constexpr size_t kNumbers = 2 * kSize.keys * kSize.depth;
  for (const size_t large : {size_t{200}, size_t{280}}) {
    expect_both(shared_heads(kSize, kMasked), [&](size_t at) {
      if (at < kMasks) return at % kSize.keys > at / kSize.keys + 9 ? -10000.0 : 0.0;
      const size_t number = at - kMasks;
      if (number < kQueries) return 64.0;
      const size_t key = (number - kQueries) / kSize.depth % kSize.keys;
      return number < kQueries + kNumbers ? 64.0 * (key < large ? 1 : 4) : pair_sine(at);
    });
  }
}

// In queries, keys and values, also of keys that a mask hides.
TEST(PairAttention, WhatIsNoNumberStaysSo) {
  constexpr Size kSize{18, 290, 6, 5};
  const size_t masks = kSize.rows * kSize.keys;
  const size_t queries = 6 * kSize.rows * kSize.depth;
  const size_t keys = 2 * kSize.keys * kSize.depth;
  for (const double special : {kInfinity, -kInfinity, kNaN}) {
    for (const size_t place : {size_t{5}, masks - 40, masks + 9, masks + queries + 7, masks + queries + keys / 2 - 3,
                               masks + queries + keys + 8, masks + queries + keys + kSize.keys * kSize.width - 6}) {
      for (const char* const mask : {kMasked, "u = Add(s, m)"}) {
        expect_both(shared_heads(kSize, mask), [&](size_t at) {
          if (at == place) return special;
          if (at < masks) return at % kSize.keys > at / kSize.keys + 9 ? -10000.0 : 0.0;
          return pair_sine(at) / 2;
        });
      }
    }
  }
}

TEST(PairAttention, BitsOfAnyNumberOfThreads) {
  const std::string text = shared_heads({200, 300, 40, 48}, kMasked);
  std::vector<std::vector<double>> first;
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    const EngineRun run = run_attention(text, "bfloat16", pair_sine);
    if (threads == 1) first = run.outputs;
    EXPECT_EQ(run.outputs, first) << threads;
  }
}

// Two keys of which one weighs 1 + 2^-9 times the other: the weights' rounding shows in the result.
TEST(PairAttention, StrictLayersRoundNoWeights) {
  const std::string text =
      "(T[8,2] q, T[2,2] k, T[2,1] v) => (T[8,1] y) { s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }";
  const auto number = [](size_t i) {
    constexpr double kNumbers[] = {0.001953125, 0, 0, 0, 16384, -16384};
    return i < 16 ? (i % 2 == 0 ? 1.0 : 0.0) : kNumbers[i - 16];
  };
  const auto expected = testing_support::run_on_reference(model_of(text, "double"), number);
  EXPECT_EQ(difference(run_attention(text, "bfloat16", number, true).outputs, expected, 0.004), "");
}

}  // namespace
}  // namespace assay::engine::cpu
