#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double sine(size_t i) { return 2 * std::sin(1.7 * static_cast<double>(i) + 1); }

void expect_attention(const std::string& text, const std::function<double(size_t)>& number = sine,
                      double tolerance = 2e-5) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 21]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"}) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), tolerance), "") << text;
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

// PyTorch gives queries and keys the square root of the factor each.
TEST(Attention, QueriesAndKeysThatAreScaled) {
  for (const char* const scaled :
       {"a = Mul(q, r) b = Mul(k, r)", "a = Div(q, r) b = Identity(k)", "a = Mul(r, q) b = Div(k, r)"}) {
    expect_attention(
        fmt::format("(float[2,3,9,16] q, float[2,3,16,40] k, float[2,3,40,8] v) => (float[2,3,9,8] y) <float r "
                    "= {{0.6}}> {{ {} s = MatMul(a, b) p = Softmax(s) y = MatMul(p, v) }}",
                    scaled));
  }
  const ir::Model read_twice = parsed(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,9,16] q, float[2,16,40] k, float[2,40,8] v) => "
      "(float[2,9,8] "
      "y, float[2,9,16] z) <float r = {0.6}> { a = Mul(q, r) s = MatMul(a, k) p = Softmax(s) y = MatMul(p, v) z = "
      "Neg(a) }");
  const testing_support::EngineRun run = testing_support::run_on_engine(read_twice, sine);
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(read_twice, sine), 2e-5), "");
}

// The reference rounds every value to bfloat16, the engine those that are stored.
TEST(Attention, OfBfloat16) {
  constexpr double kTolerance = 0.05;
  const auto small = [](size_t i) { return sine(i) / 4; };
  for (const auto& [rows, keys, depth, width] : kSizes) {
    expect_attention(
        fmt::format("(bfloat16[2,{0},3,{2}] a, bfloat16[2,{1},3,{2}] b, bfloat16[2,{1},3,{3}] c, bfloat16[{0},{1}] m) "
                    "=> (bfloat16[2,{0},3,{3}] y) {{ q = Transpose<perm = [0,2,1,3]>(a) "
                    "k = Transpose<perm = [0,2,3,1]>(b) v = Transpose<perm = [0,2,1,3]>(c) s = MatMul(q, k) "
                    "u = Add(s, m) p = Softmax(u) o = MatMul(p, v) y = Transpose<perm = [0,2,1,3]>(o) }}",
                    rows, keys, depth, width),
        small, kTolerance);
    expect_attention(fmt::format("(bfloat16[3,{0},{2}] q, bfloat16[3,{2},{1}] k, bfloat16[1,{1},{3}] v) => "
                                 "(bfloat16[3,{0},{3}] y) {{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }}",
                                 rows, keys, depth, width),
                     small, kTolerance);
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

// Six heads of queries share two of keys and values, which operators repeat.
std::string shared_heads(const Size& size, const std::string& k_repeats, const std::string& v_repeats,
                         const std::string& core) {
  return fmt::format(
      "(float[2,6,{0},{2}] q, float[2,2,{1},{2}] a, float[2,2,{1},{3}] b, float[2,1,{0},{1}] m, bool[{0},{1}] c) => "
      "(float[2,{0},6,{3}] y) <int64[1] two = {{2}}, int64[5] kw = {{2,2,3,{1},{2}}}, int64[5] vw = {{2,2,3,{1},{3}}}, "
      "int64[5] times = {{1,1,3,1,1}}, int64[6] each = {{0,0,0,1,1,1}}, int64[4] kh = {{2,6,{1},{2}}}, "
      "int64[4] vh = {{2,6,{1},{3}}}, float n = {{1.6}}, float r = {{1.4}}, float least = {{-3e38}}, "
      "float[1] none = {{0}}> {{ {4} {5} {6} y = Transpose<perm = [0,2,1,3]>(o) }}",
      size.rows, size.keys, size.depth, size.width, k_repeats, v_repeats, core);
}
constexpr std::string_view kPlain =
    "t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) d = Div(s, n) u = Add(d, m) p = Softmax(u) o = MatMul(p, v)";

TEST(Attention, HeadsThatShareKeys) {
  struct Repeats {
    const char *keys, *values;
  };
  constexpr Repeats kRepeats[] = {
      {"e = Unsqueeze(a, two) f = Expand(e, kw) k = Reshape(f, kh)",
       "g = Unsqueeze(b, two) h = Expand(g, vw) v = Reshape(h, vh)"},
      {"e = Unsqueeze(a, two) f = Tile(e, times) k = Reshape(f, kh)",
       "g = Unsqueeze(b, two) h = Tile(g, times) v = Reshape(h, vh)"},
      {"e = Unsqueeze(a, two) f = Concat<axis = 2>(e, e, e) k = Reshape(f, kh)",
       "g = Unsqueeze(b, two) h = Concat<axis = 2>(g, g, g) v = Reshape(h, vh)"},
      {"k = Gather<axis = 1>(a, each)", "v = Gather<axis = 1>(b, each)"},
  };
  for (const Size& size : kSizes) {
    for (const auto& [keys, values] : kRepeats) {
      expect_attention(shared_heads(size, keys, values, std::string(kPlain)));
    }
  }
}

// Scales on the keys, conditions as masks before what is added, and weights that are no numbers.
TEST(Attention, SpellingsOfExporters) {
  constexpr const char* kCores[] = {
      "t = Transpose<perm = [0,1,3,2]>(k) w = Mul(t, r) s = MatMul(q, w) u = Add(s, m) p = Softmax(u) o = MatMul(p, v)",
      "w = Div(k, r) t = Transpose<perm = [0,1,3,2]>(w) s = MatMul(q, t) d = Div(s, n) p = Softmax(d) o = MatMul(p, v)",
      "t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) d = Mul(s, n) x = Where(c, d, least) u = Add(x, m) "
      "p = Softmax(u) o = MatMul(p, v)",
      "t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) x = Where(c, least, s) p = Softmax(x) o = MatMul(p, v)",
      "t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) u = Add(s, m) p = Softmax(u) i = IsNaN(p) "
      "z = Where(i, none, p) o = MatMul(z, v)",
  };
  const std::string keys = "e = Unsqueeze(a, two) f = Expand(e, kw) k = Reshape(f, kh)";
  const std::string values = "g = Unsqueeze(b, two) h = Expand(g, vw) v = Reshape(h, vh)";
  for (const Size& size : kSizes) {
    const auto before_mask =
        static_cast<size_t>(12 * size.rows * size.depth + 4 * size.keys * (size.depth + size.width));
    const auto masks = static_cast<size_t>(2 * size.rows * size.keys);
    const auto row = static_cast<size_t>(size.keys);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const char* const core : kCores) {
      const std::string text = shared_heads(size, keys, values, core);
      // The first row of the mask and of the conditions hides everything, the others some keys.
      const auto drawn = [&](size_t i, double special, size_t place) {
        if (i < before_mask) return sine(i);
        const size_t at = i - before_mask;
        if (at == place) return special;
        if (at < masks) return at < row || at % 5 == 0 ? -kInfinity : sine(i);
        return at - masks < row || at % 3 == 0 ? 0.0 : 1.0;
      };
      for (const double special : {-kInfinity, kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
        expect_attention(text, [&](size_t i) { return drawn(i, special, masks - 1); });
      }
    }
  }
}

TEST(Attention, AnyNumberOfThreads) {
  const std::string text = shared_heads({1, 300, 64, 64}, "k = Gather<axis = 1>(a, each)",
                                        "v = Gather<axis = 1>(b, each)", std::string(kPlain));
  for (const unsigned threads : {1U, 2U, 3U, 5U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    expect_attention(text);
    expect_attention(shared_heads({5, 300, 64, 64}, "e = Unsqueeze(a, two) f = Expand(e, kw) k = Reshape(f, kh)",
                                  "g = Unsqueeze(b, two) h = Tile(g, times) v = Reshape(h, vh)", std::string(kPlain)));
  }
}

// A condition puts a number in the place of a score that is none.
TEST(Attention, HiddenScoresDoNotCount) {
  constexpr size_t kConditions = 8;
  for (const char* const chosen : {"Where(c, s, least)", "Where(c, least, s)"}) {
    const std::string text = fmt::format(
        "(bool[8] c, float[1,4,8] k, float[1,3,4] q, float[1,8,5] v) => (float[1,3,5] y) <float least = {{-3e38}}> "
        "{{ s = MatMul(q, k) x = {} p = Softmax(x) y = MatMul(p, v) }}",
        chosen);
    const double shows = std::string(chosen) == "Where(c, s, least)" ? 1 : 0;
    expect_attention(text, [&](size_t i) {
      const bool is_hidden = i % kConditions == 3;
      if (i < kConditions) return is_hidden ? 1 - shows : shows;
      return is_hidden && i < kConditions * 5 ? std::numeric_limits<double>::quiet_NaN() : sine(i);
    });
  }
}

// Sizes, spellings and threads as they are drawn; the mask hides keys, and some of its numbers are none.
TEST(Attention, RandomShapes) {
  std::mt19937 random(7);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  constexpr const char* kMasked[] = {"u = Add(s, m)", "x = Where(c, s, least) u = Add(x, m)",
                                     "d = Div(s, n) u = Add(m, d)", "u = Where(c, least, s)"};
  constexpr const char* kTurned[] = {"t = Transpose<perm = [0,1,3,2]>(k)",
                                     "w = Mul(k, r) t = Transpose<perm = [0,1,3,2]>(w)",
                                     "w = Transpose<perm = [0,1,3,2]>(k) t = Div(w, r)"};
  constexpr double kSpecials[] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < 60; ++i) {
    const Size size{draw(1, 3) == 1 ? 1 : draw(1, 40), draw(1, 600), draw(1, 80), draw(1, 80)};
    const std::string text =
        shared_heads(size, "e = Unsqueeze(a, two) f = Expand(e, kw) k = Reshape(f, kh)",
                     draw(0, 1) == 0 ? "v = Gather<axis = 1>(b, each)"
                                     : "g = Unsqueeze(b, two) h = Tile(g, times) v = Reshape(h, vh)",
                     fmt::format("{} s = MatMul(q, t) {} p = Softmax(u) o = MatMul(p, v)", kTurned[draw(0, 2)],
                                 kMasked[draw(0, 3)]));
    const auto before = static_cast<size_t>(12 * size.rows * size.depth + 4 * size.keys * (size.depth + size.width));
    const auto masks = static_cast<size_t>(2 * size.rows * size.keys);
    const size_t place = before + static_cast<size_t>(draw(0, static_cast<int>(masks) - 1));
    const double special = kSpecials[draw(0, 1)];
    const ThreadPool pool(static_cast<unsigned>(draw(1, 3)));
    const PoolScope scope(pool);
    expect_attention(text, [&](size_t at) {
      if (at == place) return special;
      if (at < before || at % 4 != 0) return sine(at) / 2;  // so that scores stay small
      return at < before + masks ? -std::numeric_limits<double>::infinity() : 0.0;
    });
  }
}

// Repeats that others read, in another order, or of another number for values are not taken in.
TEST(Attention, OtherRepeatsStayOutside) {
  for (const char* const text :
       {"(float[1,4,2,8] q, float[1,2,5,8] a, float[1,4,5,8] v) => (float[1,4,2,8] y, float[1,4,5,8] k) "
        "<int64[4] i = {0,0,1,1}> { k = Gather<axis = 1>(a, i) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) "
        "p = Softmax(s) y = MatMul(p, v) }",
        "(float[1,4,2,8] q, float[1,2,5,8] a, float[1,4,5,8] v) => (float[1,4,2,8] y) "
        "<int64[4] i = {0,1,0,1}> { k = Gather<axis = 1>(a, i) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) "
        "p = Softmax(s) y = MatMul(p, v) }",
        "(float[1,4,2,5] q, float[1,4,5,8] k, float[1,4,8,3] v) => (float[1,4,2,3] y, float[1,4,2,8] p) "
        "{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }",
        "(float[1,4,2,5] q, float[1,4,5,8] k, float[1,4,8,3] v, bool[2,1] c) => (float[1,4,2,3] y) "
        "<float n = {-9}> { s = MatMul(q, k) w = Where(c, s, n) p = Softmax(w) y = MatMul(p, v) }"}) {
    const ir::Model model = parsed(std::string("<ir_version: 10, opset_import: [\"\" : 21]> g ") + text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
    EXPECT_NE(run.tactics, std::vector<std::string>{"attention.blocks"}) << text;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 2e-5), "") << text;
  }
}

void expect_operator(const std::string& text, const std::function<double(size_t)>& number = sine) {
  const ir::Model model = parsed("<ir_version: 11, opset_import: [\"\" : 24, \"com.microsoft\" : 1]> g " + text);
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

// Keys and values of the past, which the results hold together with the new ones.
TEST(Attention, OperatorWithCache) {
  for (const int past : {0, 1, 6, 300}) {
    for (const auto& [rows, keys, depth, width] : kSizes) {
      const std::string sizes = fmt::format("float[2,2,{},{}] pk, float[2,2,{},{}] pv", past, depth, past, width);
      const std::string results =
          fmt::format("float[2,2,{},{}] nk, float[2,2,{},{}] nv", past + keys, depth, past + keys, width);
      for (const char* const causal : {"is_causal = 0", "is_causal = 1"}) {
        expect_operator(fmt::format(
            "(float[2,6,{},{}] q, float[2,2,{},{}] k, float[2,2,{},{}] v, {}) => "
            "(float[2,6,{},{}] y, {}) {{ y, nk, nv = Attention<{}>(q, k, v, , {}) }}",
            rows, depth, keys, depth, keys, width, sizes, rows, width, results, causal, past == 0 ? ", " : "pk, pv"));
        expect_operator(
            fmt::format("(float[2,{0},{1}] q, float[2,{2},{3}] k, float[2,{2},{4}] v, bool[{0},{5}] m, {6}) => "
                        "(float[2,{0},{7}] y, {8}) {{ y, nk, nv = Attention<q_num_heads = 6, kv_num_heads = 2, {9}>"
                        "(q, k, v, m, {10}) }}",
                        rows, 6 * depth, keys, 2 * depth, 2 * width, past + keys, sizes, 6 * width, results, causal,
                        past == 0 ? ", " : "pk, pv"));
      }
    }
  }
}

constexpr Size kCachedSizes[] = {{1, 1, 2, 3},   {1, 7, 5, 3},      {2, 300, 64, 32}, {4, 33, 8, 64},
                                 {5, 31, 16, 8}, {17, 256, 20, 40}, {130, 40, 7, 32}, {20, 530, 32, 33}};

// Concat of a cache and attention as one layer, which gives out what others read.
std::string cached_attention(const Size& size, int past, const std::string& results, const std::string& core) {
  return fmt::format(
      "(float[2,3,{0},{2}] q, float[2,3,{4},{2}] pk, float[2,3,{1},{2}] nk, float[2,3,{4},{3}] pv, "
      "float[2,3,{1},{3}] nv, float[2,3,{2},{4}] tk, float[2,3,{2},{1}] sk, float[2,1,{0},{5}] m) => "
      "(float[2,3,{0},{3}] y{6}) <float n = {{1.5}}> {{ {7} }}",
      size.rows, size.keys, size.depth, size.width, past, past + size.keys, results, core);
}
constexpr const char* kOfCaches =
    "k = Concat<axis = 2>(pk, nk) v = Concat<axis = -2>(pv, nv) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) "
    "d = Div(s, n) u = Add(d, m) p = Softmax(u) y = MatMul(p, v)";
constexpr const char* kOfTurnedCache =
    "k = Concat<axis = 3>(tk, sk) v = Concat<axis = 2>(pv, nv) s = MatMul(q, k) u = Add(s, m) p = Softmax(u) "
    "y = MatMul(p, v)";
std::string cache_dims(const Size& size, int past, bool is_turned) {
  const int all = past + size.keys;
  return is_turned ? fmt::format("float[2,3,{},{}]", size.depth, all)
                   : fmt::format("float[2,3,{},{}]", all, size.depth);
}

TEST(Attention, WrittenOutWithCaches) {
  for (const int past : {0, 1, 127, 300}) {
    size_t turn = 0;
    for (const Size& size : kCachedSizes) {
      if (past + size.keys < 2) continue;  // its turn is a Reshape
      const std::string values = fmt::format(", float[2,3,{},{}] v", past + size.keys, size.width);
      for (const bool is_turned : {false, true}) {
        const std::string keys = fmt::format(", {} k", cache_dims(size, past, is_turned));
        const std::string results[] = {keys + values, keys, values, std::string()};
        expect_attention(cached_attention(size, past, results[turn++ / 2 % 4], is_turned ? kOfTurnedCache : kOfCaches));
      }
    }
  }
}

// Infinities and NaN in the past, in what is new and in the mask stay what they are, in the caches too.
TEST(Attention, WrittenOutWithCachesOfWhatIsNoNumber) {
  const Size size{2, 3, 8, 5};
  const std::string results = fmt::format(", {} k, float[2,3,{},{}] v", cache_dims(size, 40, false), 43, size.width);
  for (const double special : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(), 1e-42}) {
    for (size_t place = 50; place < 4500; place += 171) {
      expect_attention(cached_attention(size, 40, results, kOfCaches),
                       [&](size_t i) { return i == place ? special : sine(i); });
    }
  }
}

// Large caches are written past the processor's caches, by any number of threads.
TEST(Attention, WrittenOutWithLargeCaches) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    for (const Size& size : {Size{1, 1, 64, 64}, Size{1, 2, 65, 33}, Size{140, 3, 64, 64}}) {
      const std::string values = fmt::format(", float[2,3,{},{}] v", 530 + size.keys, size.width);
      for (const bool is_turned : {false, true}) {
        const std::string keys = fmt::format(", {} k", cache_dims(size, 530, is_turned));
        expect_attention(cached_attention(size, 530, keys + values, is_turned ? kOfTurnedCache : kOfCaches));
      }
    }
  }
}

// Six heads of queries read two of a cache, which is appended before a dim is made for the repeats, or behind it.
TEST(Attention, WrittenOutWithSharedCaches) {
  constexpr const char* kRepeats[] = {
      "k = Concat<axis = 2>(pk, nk) e = Unsqueeze(k, two) f = Expand(e, kw) r = Reshape(f, kh) "
      "v = Concat<axis = 2>(pv, nv) g = Unsqueeze(v, two) h = Expand(g, vw) x = Reshape(h, vh)",
      "k = Concat<axis = 2>(pk, nk) r = Gather<axis = 1>(k, each) v = Concat<axis = 2>(pv, nv) "
      "x = Gather<axis = 1>(v, each)",
  };
  for (const int past : {0, 7, 300}) {
    for (const auto& [rows, keys, depth, width] : kCachedSizes) {
      if (past + keys < 2) continue;
      for (const char* const repeats : kRepeats) {
        expect_attention(fmt::format(
            "(float[2,6,{0},{2}] q, float[2,2,{5},{2}] pk, float[2,2,{1},{2}] nk, float[2,2,{5},{3}] pv, "
            "float[2,2,{1},{3}] nv) => (float[2,6,{0},{3}] y, float[2,2,{4},{2}] k, float[2,2,{4},{3}] v) "
            "<int64[1] two = {{2}}, int64[5] kw = {{2,2,3,{4},{2}}}, int64[5] vw = {{2,2,3,{4},{3}}}, "
            "int64[6] each = {{0,0,0,1,1,1}}, int64[4] kh = {{2,6,{4},{2}}}, int64[4] vh = {{2,6,{4},{3}}}> "
            "{{ {6} t = Transpose<perm = [0,1,3,2]>(r) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, x) }}",
            rows, keys, depth, width, past + keys, past, repeats));
      }
    }
  }
}

// The past is float32 and so are the results, or both are bfloat16.
TEST(Attention, WrittenOutWithCachesOfBfloat16) {
  const auto small = [](size_t i) { return sine(i) / 4; };
  for (const int past : {0, 1, 127, 300}) {
    for (const auto& [rows, keys, depth, width] : kCachedSizes) {
      if (past + keys < 2) continue;
      const std::string core = "t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v)";
      for (const char* const types : {"float", "bfloat16"}) {
        const bool has_casts = std::string(types) == "float";
        const std::string before = has_casts ? "ck = Cast<to = 16>(pk) cv = Cast<to = 16>(pv) "
                                               "k = Concat<axis = 2>(ck, nk) v = Concat<axis = 2>(cv, nv) "
                                             : "k = Concat<axis = 2>(pk, nk) v = Concat<axis = 2>(pv, nv) ";
        expect_attention(
            fmt::format("(bfloat16[2,3,{0},{2}] q, {6}[2,3,{4},{2}] pk, bfloat16[2,3,{1},{2}] nk, {6}[2,3,{4},{3}] pv, "
                        "bfloat16[2,3,{1},{3}] nv) => (bfloat16[2,3,{0},{3}] y, {6}[2,3,{5},{2}] {8}, "
                        "{6}[2,3,{5},{3}] {9}) {{ {7} {10} {11} }}",
                        rows, keys, depth, width, past, past + keys, types, before, has_casts ? "ok" : "k",
                        has_casts ? "ov" : "v", core, has_casts ? "ok = Cast<to = 1>(k) ov = Cast<to = 1>(v)" : ""),
            small, 0.05);
      }
    }
  }
}

// What a cache of float32 holds was rounded to bfloat16 as Casts do it.
TEST(Attention, CachesOfBfloat16HaveTheBitsOfCasts) {
  const ir::Model model = parsed(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,1,40,13] pk, bfloat16[2,1,2,13] nk, bfloat16[2,1,1,13] "
      "q, "
      "bfloat16[2,1,42,3] v) => (float[2,1,42,13] k, bfloat16[2,1,1,3] y) { c = Cast<to = 16>(pk) "
      "a = Concat<axis = 2>(c, nk) t = Transpose<perm = [0,1,3,2]>(a) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) "
      "k = Cast<to = 1>(a) }");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNumbers[] = {
      1.00390625,  1.01171875,
      -1.00390626, 3.4e38,
      -3.4e38,     kInfinity,
      -kInfinity,  1e-42,
      0,           std::numeric_limits<double>::quiet_NaN()};  // of which two lie between neighbours
  const auto number = [&](size_t i) { return i % 7 == 0 ? kNumbers[i / 7 % std::size(kNumbers)] : sine(i); };
  testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"});
  std::vector<std::vector<double>> expected = testing_support::run_on_reference(model, number);
  expected.pop_back();
  run.outputs.pop_back();
  EXPECT_EQ(difference(run.outputs, expected, 0), "");
}

// What is appended lies as products give it: heads side by side, or three times as far apart.
TEST(Attention, WrittenOutWithCachesOfViews) {
  for (const auto& [rows, keys, depth, width] : kCachedSizes) {
    expect_attention(fmt::format(
        "(float[2,{0},3,{2}] a, float[2,{1},3,{2}] b, float[2,{1},3,{3}] c, float[2,3,50,{2}] pk, "
        "float[2,3,{3},50] pv) => (float[2,3,{0},{3}] y, float[2,3,{4},{2}] k, float[2,3,{3},{4}] w) "
        "{{ q = Transpose<perm = [0,2,1,3]>(a) nk = Transpose<perm = [0,2,1,3]>(b) nv = Transpose<perm = [0,2,3,1]>(c) "
        "k = Concat<axis = 2>(pk, nk) w = Concat<axis = 3>(pv, nv) t = Transpose<perm = [0,1,3,2]>(k) "
        "v = Transpose<perm = [0,1,3,2]>(w) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) }}",
        rows, keys, depth, width, 50 + keys));
  }
}

// A cache that the attention waits for elsewhere, or reads twice, or that is made of three stays outside.
TEST(Attention, OtherCachesStayOutside) {
  constexpr const char* kHead =
      "(float[1,2,3,4] a, float[1,2,5,4] b, float[1,2,3,4] q, float[1,2,8,4] w) => (float[1,2,3,4] y) "
      "<int64[1] two = {2}, int64[5] wide = {1,2,2,8,4}, int64[4] heads = {1,4,8,4}> ";
  for (const char* const core :
       {"{ k = Concat<axis = 2>(a, b) t = Transpose<perm = [0,1,3,2]>(k) g = ReduceMax<axes = [3]>(k) "
        "m = Transpose<perm = [0,1,3,2]>(g) s = MatMul(q, t) u = Add(s, m) x = Softmax(u) y = MatMul(x, w) }",
        "{ k = Concat<axis = 2>(a, b) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) x = Softmax(s) "
        "y = MatMul(x, k) }",
        "{ k = Concat<axis = 2>(a, b, a) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) x = Softmax(s) "
        "v = Concat<axis = 2>(b, a, a) y = MatMul(x, v) }",
        "{ k = Concat<axis = 2>(a, b) e = Unsqueeze(k, two) f = Expand(e, wide) r = Reshape(f, heads) "
        "t = Transpose<perm = [0,1,3,2]>(r) g = ReduceMax<axes = [3]>(k) p = Concat<axis = 1>(q, q) "
        "h = Concat<axis = 1>(g, g) m = Transpose<perm = [0,1,3,2]>(h) s = MatMul(p, t) u = Add(s, m) x = Softmax(u) "
        "i = Concat<axis = 1>(w, w) z = MatMul(x, i) y, o = Split<axis = 1>(z) }"}) {
    const ir::Model model = parsed(std::string("<ir_version: 8, opset_import: [\"\" : 17]> g ") + kHead + core);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
    EXPECT_EQ(run.tactics.front(), "movement.concat") << core;
    EXPECT_EQ(run.tactics.back(), "attention.blocks") << core;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 2e-5), "") << core;
  }
}

TEST(Attention, MultiHeadAttention) {
  for (const auto& [rows, keys, depth, width] : kSizes) {
    for (const char* const attributes : {"unidirectional = 0", "unidirectional = 1", "scale = 0.3"}) {
      expect_operator(
          fmt::format("(float[2,{0},{2}] q, float[2,{1},{2}] k, float[2,{1},{3}] v, float[1,3,{0},{1}] m) => "
                      "(float[2,{0},{3}] y) {{ y = com.microsoft.MultiHeadAttention<num_heads = 3, {4}>"
                      "(q, k, v, , , m) }}",
                      rows, keys, 3 * depth, 3 * width, attributes));
      expect_operator(
          fmt::format("(float[2,{0},{2}] q, float[2,{1},{2}] k, float[2,{1},{3}] v, float[2,3,9,{5}] pk, "
                      "float[2,3,9,{6}] pv) => (float[2,{0},{3}] y, float[2,3,{7},{5}] nk, float[2,3,{7},{6}] nv) "
                      "{{ y, nk, nv = com.microsoft.MultiHeadAttention<num_heads = 3, {4}>(q, k, v, , , , pk, pv) }}",
                      rows, keys, 3 * depth, 3 * width, attributes, depth, width, 9 + keys));
    }
  }
}

// Prompts, and tokens that go on with a past that grows or that has room for them, of entries of several lengths.
TEST(Attention, GroupQueryAttention) {
  struct Form {
    int batch, length, past, total;
  };
  constexpr Form kForms[] = {{2, 1, 9, 10},   {1, 4, 9, 13}, {2, 1, 300, 260},
                             {1, 3, 300, 40}, {2, 7, 0, 7},  {2, 1, 0, 1}};
  constexpr const char* kAttributes[] = {"do_rotary = 0", "do_rotary = 1", "do_rotary = 1, rotary_interleaved = 1",
                                         "scale = 0.3, causal = 0"};
  for (const auto& [batch, length, past, total] : kForms) {
    for (const char* const attributes : kAttributes) {
      for (const bool is_packed : {false, true}) {
        const std::string caches =
            past == 0 ? "" : fmt::format(", float[{0},2,{1},8] pk, float[{0},2,{1},8] pv", batch, past);
        const std::string text = fmt::format(
            "(int32[{0}] n{3}, {4}, float[400,3] c, float[400,3] s) => (float[{0},{1},48] y, float[{0},2,{5},8] nk, "
            "float[{0},2,{5},8] nv) <int32 all = {{{2}}}> {{ y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = "
            "6, "
            "kv_num_heads = 2, {6}>({7}, {8}, n, all, c, s) }}",
            batch, length, total, caches,
            is_packed ? fmt::format("float[{},{},80] q", batch, length)
                      : fmt::format("float[{0},{1},48] q, float[{0},{1},16] k, float[{0},{1},16] v", batch, length),
            std::max(past, total), attributes, is_packed ? "q, , " : "q, k, v", past == 0 ? ", " : "pk, pv");
        // The second entry has a token less, where that may be.
        expect_operator(text, [&, batch = batch, total = total](size_t i) {
          if (i < static_cast<size_t>(batch)) return total > 1 ? total - 1.0 - static_cast<double>(i) : 0.0;
          return sine(i);
        });
      }
    }
  }
}

TEST(Attention, GroupQueryAttentionChecksLengths) {
  const ir::Model model = parsed(
      "<ir_version: 11, opset_import: [\"\" : 24, \"com.microsoft\" : 1]> g (int32[1] n, float[1,2,8] q, float[1,2,8] "
      "k, "
      "float[1,2,8] v, float[1,1,4,8] pk, float[1,1,4,8] pv) => (float[1,2,8] y, float[1,1,6,8] nk, float[1,1,6,8] nv) "
      "<int32 all = {6}> { y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>"
      "(q, k, v, pk, pv, n, all) }");
  for (const int last : {-1, 0, 6, 1000}) {
    const auto number = [&](size_t i) { return i == 0 ? last : sine(i); };
    EXPECT_THROW(testing_support::run_on_engine(model, number), Error) << last;
  }
  const testing_support::EngineRun run =
      testing_support::run_on_engine(model, [](size_t i) { return i == 0 ? 5 : sine(i); });
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.blocks"});
}

TEST(Attention, OperatorWithMoreRunsOnTheReference) {
  for (const char* const text :
       {"(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v) => (float[1,2,3,4] y) "
        "{ y = Attention<softcap = 2.0>(q, k, v) }",
        "(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v, float[3,4] m) => (float[1,2,3,4] y) "
        "{ y = Attention(q, k, v, m) }",
        "(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v) => (float[1,2,3,4] y, float[1,2,3,5] s) "
        "{ y, a, b, s = Attention(q, k, v) }"}) {
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
