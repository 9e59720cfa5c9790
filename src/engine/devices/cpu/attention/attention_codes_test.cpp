#include "engine/devices/cpu/attention/attention_codes.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::parsed;

struct CodedSize {
  int rows, keys, depth, width;
};
constexpr CodedSize kCodedSizes[] = {{1, 1, 1, 1},   {1, 7, 5, 3},      {2, 300, 64, 32},  {4, 33, 8, 64},
                                     {5, 31, 17, 8}, {17, 256, 20, 40}, {130, 40, 66, 32}, {20, 530, 33, 31}};

// Attention of two items with three heads, whose codes are views: types and zero points of q, k and v, what is done
// to the scores `s` up to `t`, how the weights `p` become codes `c` and numbers `d`, and what becomes of the sums `o`.
struct Spelling {
  const char *q, *k, *v;
  int q_zero, k_zero, v_zero;
  const char *scores, *weights, *result_type, *result;
};

constexpr const char* kUnsignedWeights = "c = QuantizeLinear(p, ws, w0) d = DequantizeLinear(c, ws, w0)";
constexpr const char* kSignedWeights = "c = QuantizeLinear(p, ws, wl) d = DequantizeLinear(c, ws, wl)";
constexpr const char* kOtherWeights = "c = QuantizeLinear(p, wh, w7) d = DequantizeLinear(c, wo, w9)";

const Spelling kSpellings[] = {
    {"uint8", "uint8", "uint8", 127, 128, 137, "u = Div(s, n) t = Add(u, m)", kUnsignedWeights, "uint8",
     "r = QuantizeLinear(o, rs, rz) y = Transpose<perm = [0,2,1,3]>(r)"},
    {"int8", "int8", "int8", 0, 0, 0, "t = Mul(n, s)", kSignedWeights, "int8",
     "r = QuantizeLinear(o, rs, ri) y = Transpose<perm = [0,2,1,3]>(r)"},
    {"uint8", "int8", "uint8", 3, -9, 200, "t = Identity(s)", kOtherWeights, "float",
     "y = Transpose<perm = [0,2,1,3]>(o)"},
    {"int8", "uint8", "int8", -128, 255, 44, "u = Add(m, s) t = Div(u, n)", kUnsignedWeights, "uint8",
     "r = Transpose<perm = [0,2,1,3]>(o) y = QuantizeLinear(r, rs, rz)"},
    {"uint8", "uint8", "int8", 255, 0, 0,
     "e = QuantizeLinear(s, ss, sz) f = DequantizeLinear(e, ss, sy) g = Div(f, n) h = QuantizeLinear(g, st, su) "
     "i = DequantizeLinear(h, st, su) j = Add(i, m) l = QuantizeLinear(j, st, su) t = DequantizeLinear(l, st, su)",
     kSignedWeights, "uint8", "y = QuantizeLinear(o, rs, rz)"},
    {"int8", "int8", "uint8", 5, 7, 128, "u = Where(b, s, low) t = Div(u, n)", kUnsignedWeights, "float",
     "y = Identity(o)"},
    {"uint8", "uint8", "uint8", 128, 120, 131, "u = Where(b, low, s) t = Add(u, m)", kOtherWeights, "int8",
     "y = QuantizeLinear(o, rs, ri)"},
};

std::string text_of(const Spelling& spelling, const CodedSize& size) {
  // So that scores are of some units.
  const double scale = 0.022 / std::pow(static_cast<double>(size.depth), 0.25);
  const bool is_turned = std::string(spelling.result).find("Transpose") != std::string::npos;
  const std::string dims =
      is_turned ? fmt::format("2,{},3,{}", size.rows, size.width) : fmt::format("2,3,{},{}", size.rows, size.width);
  return fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 21]> g ({4}[2,{0},3,{2}] a, {5}[2,{1},3,{2}] x, {6}[2,{1},3,{3}] z, "
      "float[2,1,{0},{1}] m, bool[{0},{1}] b) => ({7}[{8}] y) <float qs = {{{9}}}, {4} qz = {{{10}}}, "
      "{5} kz = {{{11}}}, {6} vz = {{{12}}}, float vs = {{0.031}}, float n = {{1.3}}, float low = {{-9}}, "
      "float ws = {{0.0039}}, uint8 w0 = {{0}}, int8 wl = {{-128}}, float wh = {{0.0011}}, uint8 w7 = {{7}}, "
      "float wo = {{0.0037}}, uint8 w9 = {{9}}, float rs = {{0.0517}}, uint8 rz = {{101}}, int8 ri = {{-3}}, "
      "float ss = {{0.051}}, int8 sz = {{5}}, int8 sy = {{9}}, float st = {{0.043}}, uint8 su = {{160}}> {{ "
      "qt = Transpose<perm = [0,2,1,3]>(a) kt = Transpose<perm = [0,2,3,1]>(x) vt = Transpose<perm = [0,2,1,3]>(z) "
      "q = DequantizeLinear(qt, qs, qz) k = DequantizeLinear(kt, qs, kz) v = DequantizeLinear(vt, vs, vz) "
      "s = MatMul(q, k) {13} p = Softmax(t) {14} o = MatMul(d, v) {15} }}",
      size.rows, size.keys, size.depth, size.width, spelling.q, spelling.k, spelling.v, spelling.result_type, dims,
      scale, spelling.q_zero, spelling.k_zero, spelling.v_zero, spelling.scores, spelling.weights, spelling.result);
}

// Codes, masks that hide some keys but never the first, and conditions.
std::function<double(size_t)> drawn_for(const Spelling& spelling, const CodedSize& size) {
  const auto count = [](int a, int b) { return static_cast<size_t>(6) * static_cast<size_t>(a * b); };
  const std::vector<std::pair<size_t, const char*>> codes = {{count(size.rows, size.depth), spelling.q},
                                                             {count(size.keys, size.depth), spelling.k},
                                                             {count(size.keys, size.width), spelling.v}};
  const auto keys = static_cast<size_t>(size.keys);
  const size_t masks = static_cast<size_t>(2 * size.rows) * keys;
  return [=](size_t i) {
    const auto number = static_cast<int>((i * 2654435761U + (i >> 3) * 40503U) >> 7 & 255U);
    for (const auto& [all, type] : codes) {
      if (i < all) return static_cast<double>(std::string(type) == "int8" ? number - 128 : number);
      i -= all;
    }
    const bool is_seen = i % keys == 0 || number % 4 != 0;
    if (i >= masks) return is_seen ? 1.0 : 0.0;
    return is_seen ? number / 256.0 : -std::numeric_limits<double>::infinity();
  };
}

// Sums fall between two codes now and then, where roundings of floats decide.
void expect_codes(const Spelling& spelling, const CodedSize& size) {
  const std::string text = text_of(spelling, size);
  const ir::Model model = parsed(text);
  const std::function<double(size_t)> number = drawn_for(spelling, size);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics[0], "attention.codes") << text;
  EXPECT_TRUE(run.tactics.size() == 1 || size.rows == 1) << text;  // moving dims of 1 is another operator
  const std::vector<double> expected = testing_support::run_on_reference(model, number)[0];
  const std::vector<double>& seen = run.outputs[0];
  ASSERT_EQ(seen.size(), expected.size());
  constexpr double kLargestProduct = 0.0039 * 255 * 0.031;  // of a code of the weights
  const double step = std::string(spelling.result_type) == "float" ? 2 * kLargestProduct : 1;
  size_t others = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    others += std::fabs(seen[i] - expected[i]) > 1e-4 * step ? 1 : 0;
    ASSERT_NEAR(seen[i], expected[i], step) << text << ", element " << i;
  }
  EXPECT_LE(others, 2 + seen.size() / 20) << text;
}

TEST(AttentionCodes, AgreesWithItsOperators) {
  for (const CodedSize& size : kCodedSizes) {
    for (const Spelling& spelling : kSpellings) expect_codes(spelling, size);
  }
}

TEST(AttentionCodes, RandomShapes) {
  std::mt19937 random(5);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int i = 0; i < 60; ++i) {
    const ThreadPool pool(static_cast<unsigned>(draw(1, 4)));
    const PoolScope scope(pool);
    const CodedSize size{draw(1, 3) == 1 ? 1 : draw(1, 150), draw(1, 300), draw(1, 80), draw(1, 140)};
    expect_codes(kSpellings[static_cast<size_t>(i) % std::size(kSpellings)], size);
  }
}

TEST(AttentionCodes, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Spelling& spelling : kSpellings) {
    const CodedSize size{200, 77, 40, 24};
    const ir::Model model = parsed(text_of(spelling, size));
    std::vector<std::vector<double>> first;
    for (const unsigned threads : {1U, 2U, 3U, 4U}) {
      const ThreadPool pool(threads);
      const PoolScope scope(pool);
      const testing_support::EngineRun run = testing_support::run_on_engine(model, drawn_for(spelling, size));
      if (first.empty()) first = run.outputs;
      EXPECT_EQ(run.outputs, first) << threads << " threads";
    }
  }
}

// All keys of a row are hidden, or one has a mask that is no number.
TEST(AttentionCodes, RowsOfWhatIsNoNumber) {
  Spelling masked = kSpellings[1];
  masked.scores = "t = Add(s, m)";
  masked.weights = "c = QuantizeLinear(p, ws, ri) d = DequantizeLinear(c, ws, ri)";
  const CodedSize size{5, 21, 8, 6};
  const ir::Model model = parsed(text_of(masked, size));
  const std::function<double(size_t)> drawn = drawn_for(masked, size);
  const auto masks = static_cast<size_t>(6 * (size.rows * size.depth + size.keys * (size.depth + size.width)));
  const auto keys = static_cast<size_t>(size.keys);
  const auto number = [&](size_t i) {
    if (i >= masks && i < masks + keys) return -std::numeric_limits<double>::infinity();
    return i == masks + 3 * keys + 20 ? std::numeric_limits<double>::quiet_NaN() : drawn(i);
  };
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"attention.codes"});
  const std::vector<double> expected = testing_support::run_on_reference(model, number)[0];
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(run.outputs[0][i], expected[i], 1) << i;
}

// Without items, with matrices that all items share, and of masks that lie in another order.
TEST(AttentionCodes, OtherDims) {
  constexpr const char* kCodes =
      "<float e = {0.01}, uint8 h = {130}, float w = {0.004}, uint8 o = {0}> { q = DequantizeLinear(a, e, h) "
      "k = DequantizeLinear(x, e, h) v = DequantizeLinear(z, e, h) s = MatMul(q, k) ";
  for (const char* const dims :
       {"(uint8[9,8] a, uint8[8,20] x, uint8[20,6] z) => (float[9,6] y)",
        "(uint8[3,9,8] a, uint8[1,8,20] x, uint8[1,20,6] z, float[1,20] m) => (float[3,9,6] y)",
        "(uint8[1,9,8] a, uint8[2,8,20] x, uint8[1,20,6] z, float[2,1,20] m) => "
        "(float[2,9,6] y)",
        "(uint8[2,9,8] a, uint8[2,8,20] x, uint8[2,20,6] z, float[20,9] n) => "
        "(float[2,9,6] y)"}) {
    const bool is_turned = std::string(dims).find(" n)") != std::string::npos;
    const bool has_mask = is_turned || std::string(dims).find(" m)") != std::string::npos;
    const std::string text = fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 21]> g {} {} {} t = {} p = Softmax(t) "
        "c = QuantizeLinear(p, w, o) d = DequantizeLinear(c, w, o) y = MatMul(d, v) }}",
        dims, kCodes, is_turned ? "m = Transpose(n)" : "", has_mask ? "Add(s, m)" : "Mul(e, s)");
    const auto number = [](size_t i) { return static_cast<double>(i * i % 251); };
    const ir::Model model = parsed(text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
    EXPECT_EQ(run.tactics.back(), "attention.codes") << text;
    EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, number), 0.006), "")
        << text;
  }
}

// Without a quantiser of the weights, with scales by channel, of constants, or where something else is read, products
// are of floats.
TEST(AttentionCodes, OtherFormsStayAsTheyAre) {
  constexpr const char* kStart =
      "<ir_version: 10, opset_import: [\"\" : 21]> g (uint8[2,9,8] a, uint8[2,8,20] x, uint8[2,20,6] z) => "
      "(float[2,9,6] y, float[2,9,20] r) <float e = {0.01}, uint8 h = {130}, float w = {0.004}, uint8 o = {0}, "
      "float[2] es = {0.01,0.02}, uint8[2] hs = {130,120}> { v = DequantizeLinear(z, e, h) ";
  for (const char* const nodes :
       {"q = DequantizeLinear(a, e, h) k = DequantizeLinear(x, e, h) s = MatMul(q, k) r = Identity(s) p = Softmax(s) "
        "c = QuantizeLinear(p, w, o) d = DequantizeLinear(c, w, o) y = MatMul(d, v)",
        "q = DequantizeLinear(a, e, h) k = DequantizeLinear(x, e, h) s = MatMul(q, k) p = Softmax(s) "
        "c = QuantizeLinear(p, w, o) r = DequantizeLinear(c, w, o) y = MatMul(r, v)",
        "q = DequantizeLinear<axis = 0>(a, es, hs) k = DequantizeLinear(x, e, h) s = MatMul(q, k) p = Softmax(s) "
        "c = QuantizeLinear(p, w, o) d = DequantizeLinear(c, w, o) y = MatMul(d, v) r = Neg(s)",
        "q = DequantizeLinear(a, e, h) k = DequantizeLinear(x, e, h) s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) "
        "r = Neg(s)"}) {
    const std::string text = std::string(kStart) + nodes + " }";
    const auto number = [](size_t i) { return static_cast<double>(i * i % 251); };
    const ir::Model model = parsed(text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
    EXPECT_EQ(std::ranges::count(run.tactics, "attention.codes"), 0) << text;
    EXPECT_GE(run.tactics.size(), 5u) << text;  // no layer holds both products
    EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, number), 0.006), "")
        << text;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
