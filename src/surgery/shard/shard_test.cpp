#include "surgery/shard/shard.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/verify.h"
#include "match/attention.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::parsed;

constexpr std::string_view kHead = "g (float[8,4,4] q, float[8,4,4] k, float[8,4,4] v) => (float[8,4,4] o) ";
constexpr std::string_view kBare = "{\n  s = MatMul(q, k)\n  p = Softmax(s)\n  o = MatMul(p, v)\n}";

std::string text_of(const ir::Model& model, std::string_view operation) {
  std::string text;
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    const ir::Node& node = model[id];
    const ir::Attribute* const attribute = model.find_attribute(node, operation);
    text += text.empty() ? "" : " ";
    text += attribute ? model.text(attribute->string()) : model.text(node.op);
  }
  return text;
}

// The nodes in order, collectives by their operation.
std::string sharded(std::string_view graph, HintOptions options = {}) {
  ir::Model model = parsed(std::string(graph));
  const ir::TypeId type = model[model.outputs(model.main_graph())[0].value].type;
  shard(model, make_shard_hints(model, options));
  ir::check_structure(model);
  Diagnostics faults;
  ir::verify(model, faults);
  EXPECT_EQ(faults.error_count(), 0u);
  const ir::Value& output = model[model.outputs(model.main_graph())[0].value];
  EXPECT_EQ(model.text(output.name), "o");
  EXPECT_EQ(output.type, type);
  return text_of(model, "collective_operation");
}

std::string hint_refusal(std::string_view graph, const HintOptions& options) {
  const std::optional<Error> error = error_of([&] { sharded(graph, options); });
  return error ? error->line() : "no error";
}

TEST(Shard, scatters_inputs_and_gathers_what_needs_all) {
  EXPECT_EQ(sharded(std::string(kHead) + std::string(kBare)),
            "reduce_scatter reduce_scatter reduce_scatter all_gather all_gather MatMul Softmax MatMul all_gather");
}

TEST(Shard, sees_through_scales_masks_and_casts) {
  const std::string graph =
      "g (float[8,4,4] q, float[8,4,4] k, float[8,4,4] v) => (float[8,4,4] o) <float c = {0.5}> {\n"
      "  s = MatMul(q, k)\n  t = Mul(c, s)\n  u = Cast <to = 11> (t)\n  p = Softmax(u)\n  r = Cast <to = 1> (p)\n"
      "  o = MatMul(r, v)\n}";
  const ir::Model model = parsed(graph);
  ASSERT_EQ(match::attention(model).size(), 1u);
  EXPECT_EQ(model.text(model[match::attention(model)[0].k].name), "k");
}

TEST(Shard, knows_the_operator_attention) {
  const std::string graph = "<ir_version: 10, opset_import: [\"\" : 23]> " + std::string(kHead) +
                            "{\n  o = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)\n}";
  EXPECT_EQ(sharded(graph), "reduce_scatter reduce_scatter reduce_scatter all_gather all_gather Attention all_gather");
}

TEST(Shard, q_that_is_gathered_leaves_nothing_for_outputs) {
  EXPECT_EQ(sharded("g (float[8,8,8] q) => (float[8,8,8] o) "
                    "{\n  s = MatMul(q, q)\n  p = Softmax(s)\n  o = MatMul(p, q)\n}"),
            "reduce_scatter all_gather MatMul Softmax MatMul");
}

TEST(Shard, brings_another_dim_to_the_front_and_back) {
  HintOptions options;
  options.suggests_io = false;
  options.base.k_seq_len_idx = 1;
  EXPECT_EQ(sharded(std::string(kHead) + std::string(kBare), options),
            "all_gather Transpose all_gather Transpose MatMul Softmax MatMul");
}

TEST(Shard, fuses_a_bare_layer_only) {
  HintOptions options;
  options.layer = {.q = "", .gather_kv = false, .gather_q = false, .replace = formats::FusedAttention()};
  EXPECT_EQ(sharded(std::string(kHead) + std::string(kBare), options),
            "reduce_scatter reduce_scatter reduce_scatter Attention all_gather");
  EXPECT_EQ(hint_refusal(std::string(kHead) +
                             "{\n  s = MatMul(q, k)\n  [a] t = Abs(s)\n  [m] u = Add(s, t)\n  p = Softmax(u)\n"
                             "  o = MatMul(p, v)\n}",
                         options),
            "the attention layer with Q `q` cannot be one fused node: node `m` (Add) is part of it");
}

// The scale of the fused node.
float fused_scale(std::string_view graph, bool is_scaled = false) {
  HintOptions options;
  options.is_scaled = is_scaled;
  options.layer = {.q = "", .gather_kv = false, .gather_q = false, .replace = formats::FusedAttention()};
  ir::Model model = parsed(std::string(graph));
  shard(model, make_shard_hints(model, options));
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    if (model.text(model[id].op) == "Attention") return model.find_attribute(model[id], "scale")->floating();
  }
  return 0;
}

TEST(Shard, fused_nodes_take_constant_scales_over) {
  const std::string head = std::string(kHead) + "<float c = {0.5}, float[1] d = {4.0}> ";
  EXPECT_EQ(fused_scale(head + "{\n  s = MatMul(q, k)\n  t = Mul(c, s)\n  u = Div(t, d)\n  p = Softmax(u)\n"
                               "  o = MatMul(p, v)\n}"),
            0.125F);
  EXPECT_NE(fused_scale(std::string(kHead) + std::string(kBare)), 0.125F);
}

TEST(Shard, fused_nodes_take_scales_of_q_and_k_over) {
  const std::string rest =
      "  a = Mul(q, r)\n  b = Mul(k, r)\n  s = MatMul(a, b)\n  p = Softmax(s)\n  o = MatMul(p, v)\n}";
  const std::string constant = std::string(kHead) + "<float r = {0.5}> {\n" + rest;
  EXPECT_EQ(fused_scale(constant, true), 0.25F);
  EXPECT_EQ(fused_scale(constant, false), 1.0F);
  const std::string computed = std::string(kHead) +
                               "<int64[1] from = {-1}, int64[1] to = {9223372036854775807}, float[1] one = {1.0}> {\n"
                               "  h = Shape(q)\n  i = Slice(h, from, to)\n  f = Cast <to = 1> (i)\n  g = Sqrt(f)\n"
                               "  j = Div(one, g)\n  r = Sqrt(j)\n" +
                               rest;
  EXPECT_FLOAT_EQ(fused_scale(computed, true), 0.5F);
}

TEST(Shard, fused_layers_in_a_row) {
  HintOptions options;
  options.layer = {.q = "", .gather_kv = false, .gather_q = false, .replace = formats::FusedAttention()};
  EXPECT_EQ(sharded(std::string(kHead) + "{\n  s = MatMul(q, k)\n  p = Softmax(s)\n  h = MatMul(p, v)\n"
                                         "  t = MatMul(h, k)\n  r = Softmax(t)\n  o = MatMul(r, h)\n}",
                    options),
            "reduce_scatter reduce_scatter reduce_scatter Attention Attention all_gather");
}

constexpr std::string_view kStatic = "g (float[8,4] x, float[4,8] k, float[8,4] v) => (float[8,4] o) ";

std::string static_refusal(std::string_view graph) {
  formats::ShardHints hints;
  hints.attention_layers = {{.q = "q", .replace = {}}};
  hints.inputs = {{"x", 0, 2}, {"k", 1, 2}, {"v", 0, 2}};
  hints.outputs = {{"o", 0, 2}};
  hints.k_seq_len_idx = 1;
  ir::Model model = parsed(std::string(kStatic) + std::string(graph));
  const std::optional<Error> error = error_of([&] { EXPECT_EQ(shard(model, hints).misfit, ""); });
  return error ? error->line() : "no error";
}

TEST(Shard, constants_for_the_whole_sequence_are_refused) {
  const std::string rest = " p = Softmax(t) o = MatMul(p, v) }";
  EXPECT_EQ(static_refusal("{ q = Neg(x) s = MatMul(q, k) t = Neg(s)" + rest), "no error");
  EXPECT_EQ(static_refusal("<int64[2] w = {-1, 4}> { q = Reshape(x, w) s = MatMul(q, k) t = Neg(s)" + rest),
            "no error");
  const std::string refused = "the sequence cannot be split: a value that is whole on each device meets a part: ";
  const auto is_refused = [&](std::string_view graph) {
    const std::string line = static_refusal(graph);
    return line.starts_with(refused) ? testing::AssertionSuccess() : testing::AssertionFailure() << line;
  };
  EXPECT_TRUE(is_refused("<int64[2] w = {8, 4}> { q = Reshape(x, w) s = MatMul(q, k) t = Neg(s)" + rest));
  EXPECT_TRUE(is_refused("<int64[2] w = {8, 4}> { q = Expand(x, w) s = MatMul(q, k) t = Neg(s)" + rest));
  EXPECT_TRUE(
      is_refused("<float[8,1] m = {0, 0, 0, 0, 0, 0, 0, 0}> { q = Neg(x) s = MatMul(q, k) t = Add(s, m)" + rest));
}

HintOptions following() {
  HintOptions options;
  options.follows_inputs = options.follows_outputs = options.follows_k = options.follows_v = true;
  return options;
}

// The sequence dims that the model tells: `x:1 -> y:1, K 3, V 2`.
std::string followed(std::string_view graph) {
  ir::Model model = parsed(std::string(graph));
  const formats::ShardHints hints = make_shard_hints(model, following());
  std::string text;
  for (const formats::ShardTensor& input : hints.inputs) text += fmt::format("{}:{} ", input.name, input.seq_len_idx);
  text += "->";
  for (const formats::ShardTensor& output : hints.outputs) {
    text += fmt::format(" {}:{}", output.name, output.seq_len_idx);
  }
  return text + fmt::format(", K {}, V {}", hints.k_seq_len_idx, hints.v_seq_len_idx);
}

const std::string kSplitHeads =
    "a = MatMul(x, w) b = Reshape(a, s) q = Transpose <perm = [0, 2, 1, 3]> (b) k = Transpose <perm = [0, 2, 3, 1]> "
    "(b) ";
const std::string kEncoder =
    "g (float[2,8,4] x, float[2,8] m, float[4,4] w) => (o) <int64[4] s = {2, 8, 2, 2}, "
    "int64[2] i = {1, 2}, int64[3] j = {2, 8, 4}, int64 one = {1}, int64 nil = {0}> {" +
    kSplitHeads +
    "c = MatMul(q, k) n = Unsqueeze(m, i) d = Add(c, n) p = Softmax(d) e = MatMul(p, q) "
    "f = Transpose <perm = [0, 2, 1, 3]> (e) h = Reshape(f, j) ";

TEST(Shard, follows_the_sequence) {
  EXPECT_EQ(followed(kEncoder + "o = Add(h, x) }"), "x:1 -> o:1, K 3, V 2") << "the mask is that of K alone";
  EXPECT_EQ(followed(kEncoder + "o = LpNormalization <axis = 2> (h) }"), "x:1 -> o:1, K 3, V 2");
  EXPECT_EQ(followed("g (float[8,4] q, float[4,8] k, float[8,4] v) => (float[8,4] o) " + std::string(kBare)),
            "q:0 k:1 v:0 -> o:0, K 1, V 0");
}

TEST(Shard, refuses_outputs_without_the_sequence) {
  ir::Model model = parsed(kEncoder + "o = Gather <axis = 1> (h, nil) }");
  const std::optional<Error> error = error_of([&] { make_shard_hints(model, following()); });
  EXPECT_EQ(error ? error->line() : "no error",
            "`o` is not known to have the sequence of the attention layers before it, of which a device has a part; "
            "name its dim");
}

std::string refused_places(const std::string& places) {
  const std::string graph =
      "g (float[8,4] x, float[4,8] k, float[8,4] v) => (float[8,4] o) <float[8,1] table = {0, 1, 2, 3, 4, 5, 6, 7}, "
      "int64 one = {1}, "
      "int64 nil = {0}, int64[1] start = {0}> { l = Shape(x) " +
      places + " s = MatMul(q, k) p = Softmax(s) o = MatMul(p, v) }";
  return hint_refusal(graph, following());
}

TEST(Shard, places_that_are_counted_on_a_device_are_refused) {
  const auto message = [](std::string_view node) {
    return "the sequence cannot be split: " + std::string(node) +
           " counts its places by the shape of what is split, of which a device has a part; let the model be given "
           "them";
  };
  EXPECT_EQ(refused_places("n = Gather(l, nil) [count] r = Range(nil, n, one) t = Gather(table, r) q = Add(x, t)"),
            message("node `count` (Range)"));
  EXPECT_EQ(
      refused_places("n = Gather(l, nil) a = Abs(n) [count] r = Range(nil, a, one) t = Gather(table, r) q = Add(x, t)"),
      message("node `count` (Range)"));
  EXPECT_EQ(refused_places("n = Gather(l, nil) e = Unsqueeze(n, start) [cut] t = Slice(table, start, e) q = Add(x, t)"),
            message("node `cut` (Slice)"));
  EXPECT_EQ(refused_places("c = ConstantOfShape(l) [mask] t = Trilu(c) q = Add(x, t)"), message("node `mask` (Trilu)"));
  EXPECT_EQ(refused_places("n = Gather(l, one) r = Range(nil, n, one) t = Cast <to = 1> (r) q = Add(x, t)"), "no error")
      << "of the width, which is whole";
}

TEST(Shard, causal_nodes_need_all_of_q) {
  const std::string graph =
      "<ir_version: 10, opset_import: [\"\" : 23]> g (float[8,2,4,4] q, float[8,2,4,4] k, float[8,2,4,4] v) => "
      "(float[8,2,4,4] o) { o = Attention <is_causal = 1> (q, k, v) }";
  HintOptions options;
  EXPECT_NE(hint_refusal(graph, options).find("masks by the places in the sequence"), std::string::npos);
  options.layer.gather_q = true;
  EXPECT_EQ(sharded(graph, options),
            "reduce_scatter reduce_scatter reduce_scatter all_gather all_gather all_gather Attention");
}

TEST(Shard, refuses_what_cannot_be_shared) {
  const std::string graph = std::string(kHead) + std::string(kBare);
  HintOptions options;
  options.base.group_size = 3;
  EXPECT_EQ(hint_refusal(graph, options), "dim 0 of `k` is 8, which 3 devices cannot share evenly");
  options.base.groups = {0, 1};
  EXPECT_EQ(hint_refusal(graph, options), "2 devices cannot be put into groups of 3");
  options.base.groups = {0, 0, 1};
  EXPECT_EQ(hint_refusal(graph, options), "the groups name the device 0 twice");
  options = {};
  EXPECT_EQ(hint_refusal("g (float[1,8,4] q, float[1,4,8] k, float[1,8,4] v) => (float[1,8,4] o) " + std::string(kBare),
                         options),
            "dim 0 of `q` is 1, so it is not that of the sequence; name another");
  options.input_index = 3;
  EXPECT_EQ(hint_refusal(graph, options), "`q` has 3 dims: dim 3 cannot be that of the sequence");
  ir::Model model = parsed("g (seq(float[4]) x) => (int64 y) {\n  y = SequenceLength(x)\n}");
  formats::ShardHints hints;
  hints.inputs = {{"x", 0, {}}};
  const std::optional<Error> error = error_of([&] { shard(model, hints); });
  EXPECT_EQ(error ? error->line() : "no error", "`x` is no tensor: it has no sequence dim");
}

}  // namespace
}  // namespace assay::surgery
