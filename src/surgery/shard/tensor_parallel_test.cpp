#include "surgery/shard/tensor_parallel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/model_checks.h"
#include "support/rank_models.h"
#include "tensor/elements.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::kHeader;
using testing_support::outputs_of;
using testing_support::packed;
using testing_support::rank_model;
using testing_support::RankModel;
using testing_support::Ranks;
using testing_support::weight;

std::string split_refusal(const std::string& graph, int64_t ranks) {
  const std::optional<Error> error = error_of([&] { rank_model(std::string(kHeader) + graph, ranks, 0); });
  if (!error) return "no error";
  return error->code() == ErrorCode::usage ? error->line() : "another code: " + error->line();
}

std::string mlp(std::string_view weights, std::string_view nodes) {
  return fmt::format("g (float[2,6] x) => (float[2,6] y) <{}> {{ {} }}", weights, nodes);
}

const std::string kPlain = mlp(weight("float", "a", {6, 8}) + ", " + weight("float", "b", {8}) + ", " +
                                   weight("float", "c", {8, 6}) + ", " + weight("float", "d", {6}),
                               "h = MatMul(x, a) i = Add(h, b) j = Relu(i) k = MatMul(j, c) y = Add(k, d)");

TEST(TensorParallel, plain_mlp_with_biases) {
  for (const int64_t ranks : {2, 4, 8}) {
    const Ranks done(kPlain, ranks);
    EXPECT_EQ(done.error(), 0);
    EXPECT_EQ(done.sum_count(), 1U);
  }
  EXPECT_EQ(Ranks(kPlain, 2).slices(),
            (std::vector<std::string>{"a [6, 8] -> [6, 4]", "b [8] -> [4]", "c [8, 6] -> [4, 6]"}));
}

TEST(TensorParallel, gated_mlp_whatever_the_gate) {
  const std::string weights =
      weight("float", "g1", {6, 8}) + ", " + weight("float", "u", {6, 8}) + ", " + weight("float", "down", {8, 6});
  const Ranks swish(mlp(weights,
                        "g = MatMul(x, g1) s = Sigmoid(g) a = Mul(g, s) v = MatMul(x, u) m = Mul(a, v) "
                        "y = MatMul(m, down)"),
                    2);
  EXPECT_LT(swish.error(), 1e-6);
  EXPECT_EQ(swish.slices().size(), 3U);
  const std::string gelu = "<float[1] r = {1.4142135}, float one = {1.0}, float half = {0.5}, " + weights + "> ";
  const Ranks spelled("g (float[2,6] x) => (float[2,6] y) " + gelu +
                          "{ g = MatMul(x, g1) d = Div(g, r) e = Erf(d) p = Add(e, one) q = Mul(g, p) "
                          "w = Mul(q, half) v = MatMul(x, u) m = Mul(w, v) y = MatMul(m, down) }",
                      4);
  EXPECT_LT(spelled.error(), 1e-6);
  EXPECT_EQ(spelled.slices().size(), 3U);
  const Ranks product(mlp(weights, "g = MatMul(x, g1) v = MatMul(x, u) m = Mul(g, v) y = MatMul(m, down)"), 2);
  EXPECT_EQ(product.error(), 0);
}

TEST(TensorParallel, gemm_adds_its_bias_once) {
  const std::string weights = weight("float", "a", {8, 6}) + ", " + weight("float", "b", {8}) + ", " +
                              weight("float", "c", {6, 8}) + ", " + weight("float", "d", {6});
  const Ranks done(mlp(weights, "h = Gemm <transB = 1> (x, a, b) r = Relu(h) y = Gemm <transB = 1> (r, c, d)"), 4);
  EXPECT_EQ(done.error(), 0);
  EXPECT_EQ(done.slices().size(), 3U);
}

TEST(TensorParallel, weights_behind_dequantization) {
  const std::string nodes =
      "a = DequantizeLinear <axis = 1> (qa, sa, za) h = MatMul(x, a) r = Relu(h) "
      "t = DequantizeLinear <axis = 0> (qc, sc) c = Transpose <perm = [1, 0]> (t) y = MatMul(r, c)";
  const auto weights = [](std::string_view type) {
    return weight(type, "qa", {6, 8}, 7) + ", " + weight("float", "sa", {8}) + ", " + weight(type, "za", {8}, 2) +
           ", " + weight(type, "qc", {6, 8}, 7) + ", " + weight("float", "sc", {6});
  };
  for (const std::string_view type : {"int8", "int4"}) {
    const Ranks done(mlp(weights(type), nodes), 2);
    EXPECT_EQ(done.error(), 0);
    EXPECT_EQ(done.slices().size(), 4U);
  }
  const Ranks odd(mlp(weights("int4"), nodes), 8);  // parts of single elements of four bits
  EXPECT_EQ(odd.error(), 0);
}

TEST(TensorParallel, blocks_of_scales_that_are_scaled_themselves) {
  const std::string weights = weight("int4", "qa", {8, 6}, 7) + ", " + weight("int8", "sa", {4, 6}) + ", " +
                              "float s = {0.5}, " + weight("float", "u", {6, 8}) + ", " + weight("float", "b", {8});
  const std::string nodes =
      "t = DequantizeLinear(sa, s) a = DequantizeLinear <axis = 0, block_size = 2> (qa, t) h = MatMul(x, u) "
      "r = Relu(h) y = MatMul(r, a)";
  const Ranks done(mlp(weights, nodes), 2);
  EXPECT_EQ(done.error(), 0);
  EXPECT_EQ(done.slices(),
            (std::vector<std::string>{"qa [8, 6] -> [4, 6]", "sa [4, 6] -> [2, 6]", "u [6, 8] -> [6, 4]"}));
  EXPECT_NE(split_refusal(mlp(weights, nodes), 8).find("has blocks of 2 that would be cut"), std::string::npos);
}

TEST(TensorParallel, a_weight_that_others_read_is_sliced_for_itself) {
  const std::string weights = weight("float", "a", {6, 6}) + ", " + weight("float", "c", {6, 6});
  const Ranks done(mlp(weights,
                       "h = MatMul(x, a) r = Relu(h) k = MatMul(r, c) z = MatMul(x, c) w = Add(k, z) "
                       "a0 = ReduceMax <keepdims = 0> (c) y = Add(w, a0)"),
                   2);
  EXPECT_EQ(done.error(), 0);
  EXPECT_EQ(done.slices()[1], "c_1 [6, 6] -> [3, 6]");
}

TEST(TensorParallel, blocks_in_a_row) {
  const std::string weights = weight("float", "a", {6, 8}, 1) + ", " + weight("float", "b", {8, 6}, 1) + ", " +
                              weight("float", "c", {6, 8}, 1) + ", " + weight("float", "d", {8, 6}, 1);
  const Ranks done(mlp(weights,
                       "h = MatMul(x, a) i = Relu(h) j = MatMul(i, b) k = Relu(j) l = MatMul(k, c) "
                       "m = Relu(l) y = MatMul(m, d)"),
                   2);
  EXPECT_EQ(done.error(), 0);
  EXPECT_EQ(done.sum_count(), 2U);
}

std::string projections(int64_t kv_width) {
  return weight("float", "wq", {8, 8}, 1) + ", " + weight("float", "wk", {8, kv_width}, 1) + ", " +
         weight("float", "wv", {8, kv_width}, 1) + ", " + weight("float", "wo", {8, 8}, 1);
}

constexpr std::string_view kProjections = "q = MatMul(x, wq) k = MatMul(x, wk) v = MatMul(x, wv) ";

TEST(TensorParallel, attention_with_heads_in_the_last_dim) {
  const Ranks done(
      "g (float[1,3,8] x, float[1,2,2,2] pk, float[1,2,2,2] pv, float[1,1,3,5] m) => "
      "(float[1,3,8] y, float[1,2,5,2] nk, float[1,2,5,2] nv) <" +
          projections(4) + "> {" + std::string(kProjections) +
          "z, nk, nv = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, v, m, pk, pv) "
          "y = MatMul(z, wo) }",
      2, 0.1);
  EXPECT_LT(done.error(), 1e-6);
  EXPECT_EQ(done.slices().size(), 4U);
}

TEST(TensorParallel, attention_with_heads_in_a_dim_of_their_own) {
  const std::string graph =
      "g (float[1,3,8] x) => (float[1,3,8] y) <int64[4] s = {0, 0, 4, 2}, int64[4] s2 = {1, 3, -1, 2}, int64[3] t = "
      "{1, "
      "-1, 8}, " +
      weight("float", "n", {2}) + ", " + projections(8) + "> {" + std::string(kProjections) +
      "q0 = Reshape(q, s) qn = RMSNormalization(q0, n) q1 = Transpose <perm = [0, 2, 1, 3]> (qn) k0 = Reshape(k, s2) "
      "k1 = Transpose <perm = [0, 2, 1, 3]> (k0) v0 = Reshape(v, s) v1 = Transpose <perm = [0, 2, 1, 3]> (v0) "
      "z = Attention(q1, k1, v1) z1 = Transpose <perm = [0, 2, 1, 3]> (z) z2 = Reshape(z1, t) y = MatMul(z2, wo) }";
  for (const int64_t ranks : {2, 4}) {
    const Ranks done(graph, ranks, 0.1);
    EXPECT_LT(done.error(), 1e-6);
    EXPECT_EQ(done.sum_count(), 1U);
  }
}

TEST(TensorParallel, attention_of_single_operators) {
  const Ranks done(
      "g (float[1,3,8] x, float[1,1,3,3] m) => (float[1,3,8] y) <int64[4] s = {0, 0, 4, 2}, int64[3] t = {0, "
      "0, 8}, " +
          projections(8) + "> {" + std::string(kProjections) +
          "q0 = Reshape(q, s) q1 = Transpose <perm = [0, 2, 1, 3]> (q0) k0 = Reshape(k, s) "
          "k1 = Transpose <perm = [0, 2, 3, 1]> (k0) v0 = Reshape(v, s) "
          "v1 = Transpose <perm = [0, 2, 1, 3]> (v0) a = MatMul(q1, k1) b = Add(a, m) p = Softmax(b) "
          "z = MatMul(p, v1) z1 = Transpose <perm = [0, 2, 1, 3]> (z) z2 = Reshape(z1, t) "
          "y = MatMul(z2, wo) }",
      4, 0.1);
  EXPECT_LT(done.error(), 1e-6);
  EXPECT_EQ(done.slices().size(), 4U);
}

// K and V of two heads are repeated for the four of Q.
TEST(TensorParallel, attention_of_groups_with_repeated_heads) {
  const std::string lists =
      "<int64[4] s = {0, 0, 4, 2}, int64[4] g = {0, 0, 2, 2}, int64[1] two = {2}, int64[5] e = {1, 2, 2, 1, 2}, "
      "int64[4] h = {0, 4, -1, 2}, int64[3] t = {0, 0, 8}, ";
  const std::string nodes =
      "> {" + std::string(kProjections) +
      "q0 = Reshape(q, s) q1 = Transpose <perm = [0, 2, 1, 3]> (q0) k0 = Reshape(k, g) k1 = Transpose <perm = [0, 2, "
      "1, 3]> (k0) "
      "k2 = Unsqueeze(k1, two) k3 = Expand(k2, e) k4 = Reshape(k3, h) k5 = Transpose <perm = [0, 1, 3, 2]> (k4) "
      "v0 = Reshape(v, g) v1 = Transpose <perm = [0, 2, 1, 3]> (v0) v2 = Unsqueeze(v1, two) v3 = Expand(v2, e) "
      "v4 = Reshape(v3, h) a = MatMul(q1, k5) p = Softmax(a) z = MatMul(p, v4) "
      "z1 = Transpose <perm = [0, 2, 1, 3]> (z) z2 = Reshape(z1, t) y = MatMul(z2, wo) }";
  const Ranks done("g (float[1,3,8] x) => (float[1,3,8] y) " + lists + projections(4) + nodes, 2, 0.1);
  EXPECT_LT(done.error(), 1e-6);
  EXPECT_EQ(done.slices().size(), 4U);
}

TEST(TensorParallel, attention_of_onnx_runtime) {
  const Ranks grouped(
      "g (float[1,3,8] x) => (float[1,3,8] y, float[1,2,3,2] nk, float[1,2,3,2] nv) "
      "<int64[1,3] p = {0, 1, 2}, int32[1] n = {2}, int32 t = {3}, " +
          weight("float", "cos", {4, 1}, 1) + ", " + weight("float", "sin_", {4, 1}, 1) + ", " + projections(4) +
          "> {" + std::string(kProjections) +
          "r = com.microsoft.RotaryEmbedding <num_heads = 4> (q, p, cos, sin_) "
          "z, nk, nv = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2> "
          "(r, k, v, , , n, t) y = MatMul(z, wo) }",
      2, 0.1);
  EXPECT_LT(grouped.error(), 1e-6);
  EXPECT_EQ(grouped.slices().size(), 4U);
  const Ranks plain("g (float[1,3,8] x) => (float[1,3,8] y) <" + projections(8) + "> {" + std::string(kProjections) +
                        "z = com.microsoft.MultiHeadAttention <num_heads = 4> (q, k, v) y = MatMul(z, wo) }",
                    4, 0.1);
  EXPECT_LT(plain.error(), 1e-6);
}

TEST(TensorParallel, weights_in_blocks_of_four_bits) {
  const std::string graph = "g (float[2,32] x) => (float[2,8] y) <" + packed("a", {64, 2, 8}) + ", " +
                            weight("float", "sa", {128}) + ", " + packed("za", {64}) + ", " + packed("b", {8, 4, 8}) +
                            ", " + weight("float", "sb", {32}) + ", " + packed("zb", {16}) + ", " +
                            weight("float", "d", {8}) +
                            "> { h = com.microsoft.MatMulNBits <K = 32, N = 64, block_size = 16> (x, a, sa, za) "
                            "r = Relu(h) "
                            "y = com.microsoft.MatMulNBits <K = 64, N = 8, block_size = 16> (r, b, sb, zb, , d) }";
  const Ranks done(graph, 2);
  EXPECT_LT(done.error(), 1e-6);
  EXPECT_EQ(done.slices(),
            (std::vector<std::string>{"a [64, 2, 8] -> [32, 2, 8]", "sa [128] -> [64]", "za [64] -> [32]",
                                      "b [8, 4, 8] -> [8, 2, 8]", "sb [32] -> [16]", "zb [16] -> [8]"}));
  EXPECT_NE(split_refusal(graph, 4).find("cannot share 2 elements of `zb`"), std::string::npos);
}

TEST(TensorParallel, attention_plugins_of_which_nothing_is_declared) {
  const auto steps = [](std::string_view core) {
    const RankModel made =
        rank_model(std::string(kHeader) +
                       "g (float[1,3,8] x, float[1,2,2,9,2] past) => (float[1,3,8] y, float[1,2,2,9,2] next) "
                       "<int64[3] t = {0, 0, -1}, " +
                       projections(4) + "> {" + std::string(kProjections) + std::string(core) +
                       " w = Reshape(z, t) y = MatMul(w, wo) }",
                   2, 0);
    const ir::Model& model = made.model;
    const ir::Type& past = model[model[model[model.main_graph()].inputs[1]].type];
    EXPECT_EQ(model.dims().as_constant(past.dims[2]), 1);
    EXPECT_EQ(past, model[model[outputs_of(model)[1]].type]);
    return made.sharding.steps.size();
  };
  constexpr std::string_view kHeads = "<num_q_heads = 4, num_kv_heads = 2>";
  EXPECT_EQ(steps(fmt::format("z, next = own.AttentionPlugin {} (q, k, v, past)", kHeads)), 7U);
  EXPECT_EQ(steps(fmt::format("s = Concat <axis = -1> (q, k, v) z, next = own.AttentionPlugin {} (s, past)", kHeads)),
            7U);
}

TEST(TensorParallel, q_k_and_v_of_one_product) {
  const auto graph = [](std::string_view split) {
    return "g (float[1,3,8] x) => (float[1,3,8] y) <int64[3] sizes = {8, 8, 8}, " + weight("float", "w", {8, 24}, 1) +
           ", " + weight("float", "b", {24}, 1) + ", " + weight("float", "wo", {8, 8}, 1) +
           "> { p = MatMul(x, w) r = Add(p, b) q, k, v = " + std::string(split) +
           " z = Attention <q_num_heads = 4, kv_num_heads = 4> (q, k, v) y = MatMul(z, wo) }";
  };
  for (const std::string_view split : {"Split <axis = -1> (r, sizes)", "Split <axis = 2, num_outputs = 3> (r)"}) {
    const Ranks done(graph(split), 2, 0.1);
    EXPECT_LT(done.error(), 1e-6);
    EXPECT_EQ(done.slices(),
              (std::vector<std::string>{"w [8, 24] -> [8, 12]", "b [24] -> [12]", "wo [8, 8] -> [4, 8]"}));
  }
}

// Attention of single operators, with a cache of that type; `past` puts `n` together of it, `c`, and `given` makes an
// output of `n`.
Ranks cached_attention(std::string_view type, std::string_view past, std::string_view given) {
  constexpr std::string_view kText =
      "g (float[1,1,8] x, {0}[1,4,3,2] c) => (float[1,1,8] y, {0}[1,4,4,2] next) <int64[4] s = {{0, 0, 4, 2}}, "
      "int64[3] "
      "t = {{0, 0, 8}}, {1}> {{ q = MatMul(x, wq) k = MatMul(x, wk) q0 = Reshape(q, s) "
      "q1 = Transpose <perm = [0, 2, 1, 3]> (q0) k0 = Reshape(k, s) k1 = Transpose <perm = [0, 2, 1, 3]> (k0) {2} "
      "k2 = Transpose <perm = [0, 1, 3, 2]> (n) a = MatMul(q1, k2) p = Softmax(a) z = MatMul(p, n) "
      "z1 = Transpose <perm = [0, 2, 1, 3]> (z) z2 = Reshape(z1, t) y = MatMul(z2, wo) {3} }}";
  return Ranks(fmt::format(kText, type, projections(8), past, given), 2, 0.1);
}

TEST(TensorParallel, attention_of_single_operators_with_a_cache) {
  const Ranks same = cached_attention("float", "next = Concat <axis = 2> (c, k1) n = Identity(next)", "");
  EXPECT_LT(same.error(), 1e-6);
  EXPECT_EQ(same.slices().size(), 3U);
  const Ranks cast =
      cached_attention("double", "d = Cast <to = 1> (c) n = Concat <axis = 2> (d, k1)", "next = Cast <to = 11> (n)");
  EXPECT_LT(cast.error(), 1e-6);
  EXPECT_EQ(cast.slices().size(), 3U);
}

TEST(TensorParallel, targets_that_are_computed) {
  const Ranks done("g (float[1,3,8] x) => (float[1,3,8] y) <int64[2] heads = {4, 2}, int64[3] t = {0, 0, -1}, " +
                       projections(8) + "> {" + std::string(kProjections) +
                       "h = Shape <end = 2> (x) s = Concat <axis = 0> (h, heads) q0 = Reshape(q, s) "
                       "q1 = Transpose <perm = [0, 2, 1, 3]> (q0) k0 = Reshape(k, s) "
                       "k1 = Transpose <perm = [0, 2, 1, 3]> (k0) v0 = Reshape(v, s) "
                       "v1 = Transpose <perm = [0, 2, 1, 3]> (v0) z = Attention(q1, k1, v1) "
                       "z1 = Transpose <perm = [0, 2, 1, 3]> (z) z2 = Reshape(z1, t) y = MatMul(z2, wo) }",
                   2, 0.1);
  EXPECT_LT(done.error(), 1e-6);
  EXPECT_EQ(done.slices().size(), 4U);
}

TEST(TensorParallel, heads_that_ranks_cannot_share) {
  const std::string graph = "g (float[1,3,8] x) => (float[1,3,8] y) <" + projections(4) + "> {" +
                            std::string(kProjections) +
                            "[core] z = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, v) y = MatMul(z, wo) }";
  EXPECT_EQ(split_refusal(graph, 4),
            "node `core` (Attention) has 4 heads of Q and 2 of K and V, which 4 ranks cannot share evenly");
}

TEST(TensorParallel, what_is_left_whole_says_why) {
  const std::string weights =
      weight("float", "a", {6, 6}) + ", " + weight("float", "c", {6, 6}) + ", " + weight("float", "n", {6});
  const auto left = [&](std::string_view nodes) { return split_refusal(mlp(weights, nodes), 2); };
  EXPECT_NE(left("h = MatMul(x, a) r = Softmax(h) [m] y = MatMul(r, c)").find("works along the dim"),
            std::string::npos);
  EXPECT_NE(left("h = MatMul(x, a) r = LayerNormalization(h, n) y = MatMul(r, c)").find("works along the dim"),
            std::string::npos);
  EXPECT_NE(left("h = MatMul(x, a) y = MatMul(h, c)").find("nothing can be split over 2 ranks"), std::string::npos);
  EXPECT_NE(left("h = MatMul(x, a) r = Relu(h) k = MatMul(r, c) y = Add(k, h)").find("nothing can be split"),
            std::string::npos);
  EXPECT_NE(left("h = Relu(x) y = MatMul(h, c)").find("`x` is an input of the graph"), std::string::npos);
  EXPECT_NE(split_refusal(mlp(weights, "h = MatMul(x, a) r = Relu(h) y = MatMul(r, c)"), 4).find("cannot share 6"),
            std::string::npos);
}

TEST(TensorParallel, needs_ranks) {
  EXPECT_EQ(split_refusal(kPlain, 1), "TP splits weights over ranks: expected nb_rank from 2 to 256, found 1");
}

TEST(TensorParallel, slices_of_narrow_elements_are_packed_anew) {
  const std::vector<std::byte> bytes = {std::byte{0x21}, std::byte{0x43}, std::byte{0x65}};
  const tensor::Tensor whole(tensor::DType::uint4, {2, 3}, tensor::make_owned(bytes));
  const auto part = [&](size_t axis, int64_t index, int64_t count) {
    return tensor::load_elements<int64_t>(slice_of(whole, {.axis = axis, .index = index, .count = count}));
  };
  EXPECT_EQ(part(0, 1, 2), (std::vector<int64_t>{4, 5, 6}));
  EXPECT_EQ(part(1, 2, 3), (std::vector<int64_t>{3, 6}));
}

}  // namespace
}  // namespace assay::surgery
