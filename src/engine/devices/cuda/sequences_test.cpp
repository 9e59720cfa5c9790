// Recurrent layers, positions and products of codes on a card whose kernels the host runs.
#include <gtest/gtest.h>

#include "simt/layer_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::codes;
using testing_support::numbers;
using testing_support::OnCard;
using testing_support::sine;

void check(const std::string& text, const std::vector<std::string>& tactics, double tolerance = 1e-5,
           const std::function<double(size_t)>& number = sine) {
  EXPECT_EQ(testing_support::layers_fault(text, tactics, tolerance, number), "");
}

TEST(CardSequences, RotaryPositions) {
  for (const char* const type : {"float", "float16"}) {
    const double tolerance = std::string(type) == "float16" ? 2e-3 : 1e-6;
    for (const int interleaved : {0, 1}) {
      check(fmt::format("g ({0}[2,3,4,8] x, {0}[2,4,3] c, {0}[2,4,3] s) => ({0}[2,3,4,8] z) {{ "
                        "z = RotaryEmbedding<rotary_embedding_dim = 6, interleaved = {1}>(x, c, s) }}",
                        type, interleaved),
            {"rotary.rows"}, tolerance);
    }
    check(fmt::format("g ({0}[1,2,4,8] x, {0}[4,8] c, {0}[4,8] s) => ({0}[1,2,4,8] z) <int64[1] b = {{0}}, "
                      "int64[1] m = {{4}}, int64[1] e = {{8}}, int64[1] d = {{3}}> {{ l = Slice(x, b, m, d) "
                      "r = Slice(x, m, e, d) n = Neg(r) t = Concat<axis = 3>(n, l) p = Mul(x, c) q = Mul(t, s) "
                      "z = Add(p, q) }}",
                      type),
          {"rotary.rows"}, tolerance);
  }
}

TEST(CardSequences, PositionsOutOfRangeEndTheRun) {
  const OnCard model(
      "<ir_version: 11, opset_import: [\"\" : 24]> g (int64[1,2] p, float[1,2,8] x, float[5,2] c, float[5,2] s) => "
      "(float[1,2,8] z) { z = RotaryEmbedding<num_heads = 2>(x, c, s, p) }");
  EXPECT_EQ(model.tactics(), std::vector<std::string>{"rotary.rows"});
  engine::Context context(model.program(), {}, false);
  for (const double position : {-1.0, 5.0}) {
    EXPECT_THROW(model.run(context, [&](size_t i) { return i == 1 ? position : i == 0 ? 2 : sine(i); }), Error);
  }
  const auto fits = [](size_t i) { return i == 1 ? 4.0 : i == 0 ? 2 : sine(i); };
  EXPECT_EQ(testing_support::difference(model.run(context, fits), model.expected(fits), 1e-6), "");
}

// Prompts and tokens, with a past that grows or that has room for them.
TEST(CardSequences, GroupQueries) {
  struct Form {
    const char* type;
    int batch, length, past, total;
  };
  constexpr Form kForms[] = {
      {"float", 2, 1, 9, 10}, {"float16", 1, 4, 9, 13}, {"float", 2, 1, 30, 26}, {"float", 2, 5, 0, 5}};
  for (const auto& [type, batch, length, past, total] : kForms) {
    for (const char* const attributes : {"do_rotary = 0", "do_rotary = 1", "do_rotary = 1, rotary_interleaved = 1"}) {
      const std::string caches =
          past == 0 ? "" : fmt::format(", {0}[{2},2,{1},8] pk, {0}[{2},2,{1},8] pv", type, past, batch);
      const std::string text = fmt::format(
          "g (int32[{7}] n, {0}[{7},{1},80] q{2}, {0}[40,3] c, {0}[40,3] s) => ({0}[{7},{1},48] y, {0}[{7},2,{3},8] "
          "nk, "
          "{0}[{7},2,{3},8] nv) <int32 all = {{{4}}}> {{ y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 6, "
          "kv_num_heads = 2, {5}>(q, , , {6}, n, all, c, s) }}",
          type, length, caches, std::max(past, total), total, attributes, past == 0 ? ", " : "pk, pv", batch);
      const auto number = [total = total, batch = batch](size_t i) {
        return i < static_cast<size_t>(batch) ? static_cast<double>(total - 1) - static_cast<double>(i) : sine(i);
      };
      check(text, {"attention.step"}, std::string(type) == "float16" ? 1e-2 : 1e-5, number);
    }
  }
}

TEST(CardSequences, AttentionOperatorsOfHalves) {
  check(
      "g (float16[2,6,5,8] q, float16[2,2,3,8] k, float16[2,2,3,8] v, float16[5,7] m, float16[2,2,4,8] pk, "
      "float16[2,2,4,8] pv) => (float16[2,6,5,8] y, float16[2,2,7,8] nk, float16[2,2,7,8] nv) { "
      "y, nk, nv = Attention<is_causal = 1>(q, k, v, m, pk, pv) }",
      {"attention.step"}, 5e-3);
  // Eight heads share a cache, of which one copies.
  check(
      "g (float16[1,16,1,8] q, float16[1,2,1,8] k, float16[1,2,1,8] v, float16[1,2,4,8] pk, float16[1,2,4,8] pv) => "
      "(float16[1,16,1,8] y, float16[1,2,5,8] nk, float16[1,2,5,8] nv) { y, nk, nv = Attention(q, k, v, , pk, pv) }",
      {"attention.step"}, 5e-3);
  check(
      "g (float16[2,5,48] q, float16[2,3,48] k, float16[2,3,48] v) => (float16[2,5,48] y) { "
      "y = com.microsoft.MultiHeadAttention<num_heads = 6>(q, k, v) }",
      {"attention.step"}, 5e-3);
}

TEST(CardSequences, GroupQueriesCheckLengths) {
  const OnCard model(
      "<ir_version: 11, opset_import: [\"\" : 24, \"com.microsoft\" : 1]> g (int32[1] n, float[1,2,8] q, float[1,2,8] "
      "k, "
      "float[1,2,8] v, float[1,1,4,8] pk, float[1,1,4,8] pv) => (float[1,2,8] y, float[1,1,6,8] nk, float[1,1,6,8] nv) "
      "<int32 all = {6}> { y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>"
      "(q, k, v, pk, pv, n, all) }");
  engine::Context context(model.program(), {}, false);
  for (const int last : {-1, 0, 6, 1000}) {
    EXPECT_THROW(model.run(context, [&](size_t i) { return i == 0 ? last : sine(i); }), Error) << last;
  }
}

struct Recurrent {
  const char* op;
  int gates, hidden, batch;
  const char* attributes;
};

// In both directions, with all optional operands; entry i of the batch has i steps, the last one all four.
std::string text_of(const Recurrent& r) {
  const int rows = r.gates * r.hidden;
  const bool is_lstm = r.gates == 4;
  const std::string fixed = fmt::format("{}, {}, {}", numbers(fmt::format("float[2,{},3] w", rows), 2 * rows * 3),
                                        numbers(fmt::format("float[2,{},{}] r", rows, r.hidden), 2 * rows * r.hidden),
                                        numbers(fmt::format("float[2,{}] b", 2 * rows), 4 * rows));
  const std::string state = fmt::format("float[2,{},{}]", r.batch, r.hidden);
  return fmt::format(
      "g (int32[{9}] n, float[4,{9},3] x, {0} h{1}) => (float[4,2,{9},{2}] y, {0} yh{3}) <{4}> {{ y, yh{5} = "
      "{6}<hidden_size = {2}, direction = \"bidirectional\"{7}>(x, w, r, b, n, h{8}) }}",
      state, is_lstm ? fmt::format(", {} c, float[2,{}] p", state, 3 * r.hidden) : "", r.hidden,
      is_lstm ? fmt::format(", {} yc", state) : "", fixed, is_lstm ? ", yc" : "", r.op, r.attributes,
      is_lstm ? ", c, p" : "", r.batch);
}

// Large weights of the state take a launch for each step.
TEST(CardSequences, RecurrentLayers) {
  constexpr Recurrent kForms[] = {{"RNN", 1, 9, 5, ""},
                                  {"RNN", 1, 9, 5, ", activations = [\"Relu\", \"Relu\"]"},
                                  {"GRU", 3, 9, 5, ""},
                                  {"GRU", 3, 9, 5, ", linear_before_reset = 1"},
                                  {"GRU", 3, 150, 1, ""},
                                  {"LSTM", 4, 9, 5, ", clip = 0.4"},
                                  {"LSTM", 4, 9, 5, ", input_forget = 1"},
                                  {"LSTM", 4, 130, 1, ""}};
  for (const Recurrent& form : kForms) {
    const auto number = [&](size_t i) {
      const auto batch = static_cast<size_t>(form.batch);
      return i < batch ? static_cast<double>(5 - batch + i) : 0.2 * sine(i);
    };
    check(text_of(form), {"recurrent.steps"}, 2e-4, number);
  }
}

// In both directions: entry i of the batch has two steps more than i.
TEST(CardSequences, RecurrentLayersOfCodes) {
  for (const char* const type : {"int8", "uint8"}) {
    const bool has_columns = std::string_view(type) == "uint8";
    const std::string of = has_columns ? "2,36" : "2";
    const int count = has_columns ? 72 : 2, least = has_columns ? 0 : -127;
    const auto table = [&](const char* name, const std::string& dims, int size) {
      return codes(fmt::format("{}[{}] {}", type, dims, name), size, least);
    };
    const auto scales = [&](const char* name) {
      std::string text = fmt::format("float[{}] {} = {{", of, name);
      for (int i = 0; i < count; ++i) text += fmt::format("{}{:.4f}", i == 0 ? "" : ",", 0.004 + 0.0001 * (i % 7));
      return text + "}";
    };
    const auto number = [](size_t i) { return i < 3 ? static_cast<double>(i + 2) : sine(i); };
    check(fmt::format("g (int32[3] n, float[4,3,5] x, float[2,3,9] h, float[2,3,9] c) => (float[4,2,3,9] y, "
                      "float[2,3,9] yh, float[2,3,9] yc) <{}, {}, {}, {}, {}, {}, {}> {{ y, yh, yc = "
                      "com.microsoft.DynamicQuantizeLSTM<hidden_size = 9, direction = \"bidirectional\">"
                      "(x, w, r, b, n, h, c, , s, z, t, o) }}",
                      table("w", "2,5,36", 360), table("r", "2,9,36", 648), numbers("float[2,72] b", 144), scales("s"),
                      table("z", of, count), scales("t"), table("o", of, count)),
          {"recurrent.steps"}, 2e-4, number);
  }
}

TEST(CardSequences, LengthsOfSequencesAreChecked) {
  const OnCard model(
      "<ir_version: 11, opset_import: [\"\" : 24]> g (int32[1] n, float[3,1,2] x) => (float[3,1,1,2] y) <" +
      numbers("float[1,2,2] w", 4) + ", " + numbers("float[1,2,2] r", 4) +
      "> { y = RNN<hidden_size = 2>(x, w, r, , n) }");
  engine::Context context(model.program(), {}, false);
  for (const double length : {-1.0, 4.0}) {
    EXPECT_THROW(model.run(context, [&](size_t i) { return i == 0 ? length : sine(i); }), Error);
  }
}

TEST(CardSequences, CodesOfARange) {
  check("g (float[7,900] x) => (uint8[7,900] q, float s, uint8 z) { q, s, z = DynamicQuantizeLinear(x) }",
        {"quantize.dynamic"}, 0);
}

TEST(CardSequences, ProductsOfCodesWhoseWeightsHaveZeroPoints) {
  for (const int rows : {5, 70}) {
    check(fmt::format("g (float[{},40] x) => (float[{},24] z) <{}, uint8 o = {{113}}, float t = {{0.02}}> {{ "
                      "q, s, n = DynamicQuantizeLinear(x) i = MatMulInteger(q, w, n, o) f = Cast<to = 1>(i) "
                      "u = Mul(s, t) z = Mul(f, u) }}",
                      rows, rows, codes("uint8[40,24] w", 960, 0)),
          {"quantize.dynamic", "elementwise.chain", "product.codes"}, 1e-5);
  }
  check(
      "g (float[9,600] x) => (float[9,16] z) <float s = {0.01}, uint8 o = {120}, float t = {0.02}, uint8 n = "
      "{90}, " +
          codes("uint8[600,16] w", 9600, 0) +
          "> { q = QuantizeLinear(x, s, o) a = DequantizeLinear(q, s, o) b = DequantizeLinear(w, t, n) "
          "z = MatMul(a, b) }",
      {"elementwise.chain", "product.codes"}, 1e-4);
}

TEST(CardSequences, CompressedWeights) {
  for (const int rows : {3, 20}) {
    const std::string tactic = rows > 8 ? "product.compressed_tiles" : "product.compressed";
    for (const int bits : {4, 8}) {
      for (const int block : {16, 32}) {
        const int blocks = (72 + block - 1) / block, bytes = 21 * blocks * block * bits / 8;
        const int zero_bytes = 21 * ((blocks * bits + 7) / 8);
        for (const bool has_zeros : {false, true}) {
          const std::string type = block == 16 ? "float16" : "float";
          check(
              fmt::format("g ({7}[{0},72] x, {7}[21] b) => ({7}[{0},21] z) <{1}, {2}{3}> {{ y = "
                          "com.microsoft.MatMulNBits<K = 72, N = 21, bits = {4}, block_size = {5}>(x, w, s, {6}, , b) "
                          "z = Relu(y) }}",
                          rows, codes(fmt::format("uint8[21,{},{}] w", blocks, block * bits / 8), bytes, 0),
                          numbers(fmt::format("{}[{}] s", type, 21 * blocks), 21 * blocks),
                          has_zeros ? ", " + codes(fmt::format("uint8[{}] o", zero_bytes), zero_bytes, 0) : "", bits,
                          block, has_zeros ? "o" : "", type),
              {tactic}, block == 16 ? 0.2 : 2e-4);
        }
      }
    }
    check(fmt::format("g (float[{0},60] x) => (float[{0},18] z) <{1}, {2}> {{ y = DequantizeLinear<axis = 0, "
                      "block_size = 20>(w, s) z = MatMul(x, y) }}",
                      rows, codes("int8[60,18] w", 1080), numbers("float[3,18] s", 54)),
          {tactic}, 2e-4);
  }
}

// Codes that tensor cores multiply, in steps that the depth fills and does not, by fewer columns than a unit has and
// more.
TEST(CardSequences, CompressedWeightsOfWholeBlocks) {
  struct Case {
    int rows, depth, columns, bits, block;
  };
  for (const Case& of :
       {Case{1, 320, 21, 4, 32}, Case{8, 1024, 5, 4, 128}, Case{3, 256, 40, 4, 64}, Case{2, 192, 70, 8, 32}}) {
    const int blocks = of.depth / of.block, bytes = of.columns * of.depth * of.bits / 8;
    const std::string weights =
        codes(fmt::format("uint8[{},{},{}] w", of.columns, blocks, of.block * of.bits / 8), bytes, 0);
    check(fmt::format(
              "g (float16[{0},{1}] x, float16[{0},{2}] r) => (float16[{0},{2}] z) <{3}, {4}> {{ y = "
              "com.microsoft.MatMulNBits<K = {1}, N = {2}, bits = {5}, block_size = {6}>(x, w, s) z = Add(y, r) }}",
              of.rows, of.depth, of.columns, weights,
              numbers(fmt::format("float16[{}] s", of.columns * blocks), of.columns * blocks), of.bits, of.block),
          {"product.compressed"}, of.bits == 8 ? 2.0 : 0.3);
  }
}

TEST(CardSequences, AttentionOfCodes) {
  struct Spelling {
    const char *scores, *result_type, *result;
    double tolerance;
  };
  constexpr Spelling kSpellings[] = {
      {"u = Div(s, n) t = Add(u, m)", "uint8", "r = QuantizeLinear(o, rs, rz) y = Transpose<perm = [0,2,1,3]>(r)", 1},
      {"u = Where(b, low, s) t = Mul(n, u)", "float", "y = Transpose<perm = [0,2,1,3]>(o)", 0.03},
      {"e = QuantizeLinear(s, ss, sz) f = DequantizeLinear(e, ss, sz) g = Div(f, n) h = QuantizeLinear(g, st, su) "
       "i = DequantizeLinear(h, st, su) j = Add(i, m) t = Mul(j, n)",
       "uint8", "r = QuantizeLinear(o, rs, rz) y = Transpose<perm = [0,2,1,3]>(r)", 1}};
  for (const Spelling& spelling : kSpellings) {
    const std::string text = fmt::format(
        "g (uint8[2,5,3,17] a, uint8[2,31,3,17] x, uint8[2,31,3,8] z, float[2,1,5,31] m, bool[5,31] b) => "
        "({}[2,5,3,8] y) <float qs = {{0.011}}, uint8 qz = {{127}}, uint8 kz = {{120}}, uint8 vz = {{140}}, float vs = "
        "{{0.031}}, float n = {{1.3}}, float low = {{-9}}, float ws = {{0.0039}}, uint8 w0 = {{0}}, float rs = "
        "{{0.0517}}, uint8 rz = {{101}}, float ss = {{0.051}}, int8 sz = {{5}}, float st = {{0.043}}, uint8 su = "
        "{{160}}> {{ qt = Transpose<perm = [0,2,1,3]>(a) kt = Transpose<perm = [0,2,3,1]>(x) vt = Transpose<perm = "
        "[0,2,1,3]>(z) q = DequantizeLinear(qt, qs, qz) k = DequantizeLinear(kt, qs, kz) v = DequantizeLinear(vt, vs, "
        "vz) s = MatMul(q, k) {} p = Softmax(t) c = QuantizeLinear(p, ws, w0) d = DequantizeLinear(c, ws, w0) "
        "o = MatMul(d, v) {} }}",
        spelling.result_type, spelling.scores, spelling.result);
    constexpr size_t kCodes = size_t{6} * (5 * 17 + 31 * 17 + 31 * 8), kMasks = size_t{2} * 5 * 31;
    check(text, {"attention.codes"}, spelling.tolerance, [](size_t i) {
      return i < kCodes ? std::floor(128 + 100 * sine(i)) : i < kCodes + kMasks ? sine(i) : sine(i) > 0.5 ? 1 : 0;
    });
  }
}

}  // namespace
}  // namespace assay::engine::cuda
