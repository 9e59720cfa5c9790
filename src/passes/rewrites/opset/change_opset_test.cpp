#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "passes/opset/opset_options.h"
#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;
using testing_support::Rewritten;

Rewritten changed(int64_t from, int64_t to, const std::string& graph) {
  Options options;
  options.of<OpsetOptions>().version = to;
  return rewritten("change-opset", fmt::format("<ir_version: 6, opset_import: [\"\" : {}]> {}", from, graph), options);
}

std::string nodes(int64_t from, int64_t to, const std::string& graph) {
  const Rewritten outcome = changed(from, to, graph);
  EXPECT_EQ(outcome.steps, 1u) << (outcome.skipped.empty() ? "" : outcome.skipped[0]);
  return outcome.nodes;
}

std::string refusal(int64_t from, int64_t to, const std::string& graph) {
  const Rewritten outcome = changed(from, to, graph);
  EXPECT_EQ(outcome.steps, 0u) << outcome.nodes;
  return outcome.skipped.empty() ? "" : outcome.skipped[0];
}

TEST(ChangeOpset, writes_versions) {
  const Rewritten outcome = changed(11, 21, "g (float[2] x) => (float[2] y) { y = Relu(x) }");
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_NE(outcome.text.find("\"\" : 21"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("ir_version: 10"), std::string::npos) << outcome.text;
}

TEST(ChangeOpset, lowers_the_ir_version_as_far_as_types_allow) {
  const auto lowered = [](const std::string& type) {
    Options options;
    options.of<OpsetOptions>().version = 21;
    return rewritten("change-opset",
                     fmt::format("<ir_version: 13, opset_import: [\"\" : 25, \"o\" : 1]> g ({0} x) => ({0} y) "
                                 "{{ y = o.Op(x) }}",
                                 type),
                     options)
        .text;
  };
  EXPECT_NE(lowered("float[2]").find("ir_version: 10"), std::string::npos) << lowered("float[2]");
  EXPECT_NE(lowered("float4e2m1[2]").find("ir_version: 11"), std::string::npos) << lowered("float4e2m1[2]");
}

TEST(ChangeOpset, goes_to_the_newest_by_default) {
  const Rewritten outcome = rewritten("change-opset", "g (float[2] x) => (float[2] y) { y = Relu(x) }");
  EXPECT_NE(outcome.text.find(fmt::format("\"\" : {}", schema::newest_version("").value())), std::string::npos);
}

TEST(ChangeOpset, makes_axes_inputs_and_attributes) {
  const std::string older = "g (float[1,2] x) => (float[2] y) { y = Squeeze<axes = [0]>(x) }";
  EXPECT_EQ(nodes(11, 13, older), "y = Squeeze (x, Squeeze_opset_0)");
  EXPECT_NE(changed(11, 13, older).text.find("int64[1] Squeeze_opset_0 = {0}"), std::string::npos);
  const std::string newer = "g (float[1,2] x) => (float[2] y) <int64[1] a = {0}> { y = Squeeze(x, a) }";
  EXPECT_EQ(nodes(13, 11, newer), "y = Squeeze <axes: ints = [0]> (x)");
  EXPECT_EQ(refusal(13, 11, "g (float[1,2] x, int64[1] a) => (float[N] y) { y = Squeeze(x, a) }"),
            "its `axes` is computed, and an attribute in the older version");
}

TEST(ChangeOpset, newer_operators_become_several_older_ones) {
  EXPECT_EQ(nodes(24, 13, "g (float[2] x) => (float[2] y) { y = Swish(x) }"),
            "Mul_opset_0 = Sigmoid (x); y = Mul (x, Mul_opset_0)");
  EXPECT_EQ(nodes(16, 11, "g (float[2] a, float[2] b) => (bool[2] y) { y = GreaterOrEqual(a, b) }"),
            "Or_opset_0 = Greater (a, b); Or_opset_1 = Equal (a, b); y = Or (Or_opset_0, Or_opset_1)");
  const std::string rows = "g (float[2,3] x, float[3] s) => (float[2,3] y) { y = RMSNormalization(x, s) }";
  EXPECT_NE(nodes(23, 17, rows).find("ReduceMean <axes: ints = [-1]>"), std::string::npos) << nodes(23, 17, rows);
  EXPECT_EQ(nodes(23, 18, rows).find("axes: ints"), std::string::npos) << nodes(23, 18, rows);
}

// The Shape is followed by a Slice, which takes its place for the Squeeze too.
TEST(ChangeOpset, what_follows_a_node_is_seen_by_nodes_that_change_as_well) {
  EXPECT_EQ(
      nodes(15, 11,
            "g (float[2,3] x) => (int64 y) <int64[1] a = {0}> { s = Shape<start = 1, end = 2>(x) y = Squeeze(s, a) }"),
      "Shape_opset_2 = Shape (x); s = Slice (Shape_opset_2, Shape_opset_0, Shape_opset_1); y = Squeeze <axes: ints = "
      "[0]> (s)");
}

TEST(ChangeOpset, operators_that_cannot_be_spelled_out_are_refused) {
  EXPECT_EQ(refusal(17, 13,
                    "g (float[2,3] x, float[3] s) => (float[2,3] y, float[2,1] m) { "
                    "y, m = LayerNormalization(x, s) }"),
            "it has more than one output");
  EXPECT_EQ(refusal(23, 20,
                    "g (float[1,2,N,4] q, float[1,2,M,4] k, float[1,2,M,4] v) => (float[1,2,N,4] y) { "
                    "y = Attention<is_causal = 1>(q, k, v) }"),
            "its lengths are not known, which a causal mask needs");
  EXPECT_EQ(refusal(23, 20,
                    "g (float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v) => (float[1,2,3,4] y) { "
                    "y = Attention<softcap = 2.0>(q, k, v) }"),
            "its scores are capped, which is not spelled out");
}

TEST(ChangeOpset, a_mask_of_dropout_that_drops_nothing_stays_true) {
  const std::string used = "g (float[2] x) => (float[2] y, bool[2] m) { y, m = Dropout(x) }";
  EXPECT_EQ(nodes(13, 11, used), "y, Dropout_opset_1 = Dropout (x); m = Or (Dropout_opset_1, Dropout_opset_0)");
  EXPECT_NE(changed(13, 11, used).text.find("Dropout_opset_0 = {1}"), std::string::npos) << changed(13, 11, used).text;
  EXPECT_EQ(nodes(13, 11, "g (float[2] x) => (float[2] y) { y, m = Dropout(x) }"), "y, m = Dropout (x)");
}

TEST(ChangeOpset, reductions_keep_what_no_axes_mean) {
  EXPECT_EQ(nodes(13, 18, "g (float[2,3] x) => (float[1,1] y) { y = ReduceMax(x) }"), "y = ReduceMax (x)");
  EXPECT_EQ(nodes(13, 18, "g (float[2,3] x) => (float[2,1] y) { y = ReduceMax<axes = [1]>(x) }"),
            "y = ReduceMax (x, ReduceMax_opset_0)");
  EXPECT_EQ(nodes(18, 13, "g (float[2,3] x) => (float[1,1] y) { y = ReduceMax<noop_with_empty_axes = 0>(x) }"),
            "y = ReduceMax (x)");
  EXPECT_NE(refusal(18, 13, "g (float[2,3] x) => (float[2,3] y) { y = ReduceMax<noop_with_empty_axes = 1>(x) }"), "");
}

TEST(ChangeOpset, softmax_over_the_last_axis_stays_one_node) {
  EXPECT_EQ(nodes(11, 13, "g (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }"), "y = Softmax <axis: int = 1> (x)");
  EXPECT_EQ(nodes(11, 13, "g (float[2,3,1,1] x) => (float[2,3,1,1] y) { y = Softmax(x) }"),
            "y = Softmax <axis: int = 1> (x)");
  EXPECT_EQ(nodes(13, 11, "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }"),
            "y = Softmax <axis: int = -1> (x)");
}

TEST(ChangeOpset, softmax_over_several_axes_is_flattened) {
  EXPECT_EQ(nodes(11, 14, "g (float[N,M,4] x) => (float[N,M,4] y) { y = Softmax(x) }"),
            "Softmax_opset_0 = Shape (x); Softmax_opset_1 = Flatten <axis: int = 1> (x); "
            "Softmax_opset_2 = Softmax <axis: int = -1> (Softmax_opset_1); "
            "y = Reshape <allowzero: int = 1> (Softmax_opset_2, Softmax_opset_0)");
  EXPECT_NE(refusal(11, 13, "g (float[N,M,4] x) => (float[N,M,4] y) { y = Softmax(x) }"), "");
}

TEST(ChangeOpset, softmax_over_an_inner_axis_is_transposed) {
  EXPECT_EQ(nodes(13, 11, "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax<axis = 1>(x) }"),
            "Softmax_opset_0 = Transpose <perm: ints = [0, 2, 1]> (x); "
            "Softmax_opset_1 = Softmax <axis: int = 2> (Softmax_opset_0); "
            "y = Transpose <perm: ints = [0, 2, 1]> (Softmax_opset_1)");
}

TEST(ChangeOpset, clip_keeps_the_bounds_that_it_had) {
  EXPECT_EQ(nodes(10, 11, "g (float[2] x) => (float[2] y) { y = Clip<min = 0.0>(x) }"),
            "y = Clip (x, Clip_opset_0, Clip_opset_1)");
}

TEST(ChangeOpset, upsample_becomes_resize) {
  EXPECT_EQ(nodes(9, 13, "g (float[1,1,2,2] x, float[4] s) => (float[1,1,a,b] y) { y = Upsample(x, s) }"),
            "y = Resize <coordinate_transformation_mode: string = \"asymmetric\", nearest_mode: string = \"floor\"> "
            "(x, \"\", s)");
  EXPECT_NE(refusal(10, 11, "g (float[1,1,2,2] x, float[4] s) => (float[1,1,a,b] y) { y = Resize(x, s) }"), "");
}

TEST(ChangeOpset, split_counts_its_outputs) {
  EXPECT_EQ(nodes(13, 18, "g (float[4] x) => (float[2] y, float[2] z) { y, z = Split(x) }"),
            "y, z = Split <num_outputs: int = 2> (x)");
  EXPECT_EQ(nodes(18, 11, "g (float[5] x) => (float[3] y, float[2] z) { y, z = Split<num_outputs = 2>(x) }"),
            "y, z = Split <split: ints = [3, 2]> (x)");
}

TEST(ChangeOpset, a_part_of_a_shape_is_sliced) {
  EXPECT_EQ(nodes(15, 13, "g (float[2,3,4] x) => (int64[1] y) { y = Shape<start = 1, end = -1>(x) }"),
            "Shape_opset_2 = Shape (x); y = Slice (Shape_opset_2, Shape_opset_0, Shape_opset_1)");
}

TEST(ChangeOpset, downwards_defaults_are_dropped_and_all_else_is_refused) {
  EXPECT_EQ(nodes(18, 13,
                  "g (float[3] x, int64[1] i, float[1] u) => (float[3] y) "
                  "{ y = ScatterElements<reduction = \"none\">(x, i, u) }"),
            "y = ScatterElements (x, i, u)");
  EXPECT_EQ(refusal(18, 13,
                    "g (float[3] x, int64[1] i, float[1] u) => (float[3] y) "
                    "{ y = ScatterElements<reduction = \"add\">(x, i, u) }"),
            "attribute `reduction` came with version 16, and does not have its default");
}

TEST(ChangeOpset, downwards_types_are_checked) {
  EXPECT_EQ(refusal(13, 12, "g (bfloat16[2] x) => (bfloat16[2] y) { y = Relu(x) }"),
            "its input `X` is bfloat16[2], which version 6 does not allow");
  EXPECT_EQ(nodes(13, 12, "g (float[2] x) => (float[2] y) { y = Relu(x) }"), "y = Relu (x)");
}

TEST(ChangeOpset, upwards_types_may_go_away) {
  EXPECT_EQ(refusal(12, 13, "g (int32[2] x) => (int32[2] y) { y = Erf(x) }"),
            "its input `input` is int32[2], which version 13 does not allow");
  EXPECT_EQ(nodes(12, 13, "g (float[2] x) => (float[2] y) { y = Erf(x) }"), "y = Erf (x)");
}

TEST(ChangeOpset, one_refusal_changes_nothing_and_all_are_told) {
  const Rewritten outcome = changed(17, 13,
                                    "g (float[1,3] x, float[3] s, int64[1] a) => (float[3] y, float[1,3] z) "
                                    "{ z, m = LayerNormalization(x, s) y = Squeeze(x, a) w = Softmax(x) "
                                    "v, n = LayerNormalization(w, s) }");
  EXPECT_EQ(outcome.steps, 0u);
  EXPECT_EQ(outcome.skipped.size(), 2u);
  EXPECT_NE(outcome.text.find("\"\" : 17"), std::string::npos);
}

TEST(ChangeOpset, goes_into_bodies) {
  const Rewritten outcome = changed(11, 13,
                                    "g (bool c, float[1,2] x) => (float[2] y) { y = If(c) <"
                                    "then_branch = t () => (float[2] a) { a = Squeeze<axes = [0]>(x) }, "
                                    "else_branch = e () => (float[2] b) { b = Squeeze<axes = [0]>(x) }> }");
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_NE(outcome.text.find("Squeeze_opset_0 = Constant"), std::string::npos) << outcome.text;
}

Rewritten with_function(const std::string& body) {
  Options options;
  options.of<OpsetOptions>().version = 13;
  return rewritten("change-opset",
                   "<ir_version: 8, opset_import: [\"\" : 12, \"l\" : 1]> g (float[1,2] x) => (float[2] y) "
                   "{ y = l.f<k = [0]>(x) } <domain: \"l\", opset_import: [\"\" : 11]> f <k> (i) => (o) " +
                       body,
                   options);
}

TEST(ChangeOpset, functions_go_along) {
  const Rewritten outcome = with_function("{ o = Squeeze<axes = [0]>(i) }");
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_EQ(outcome.text.find("\"\" : 11"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("Squeeze (i, Squeeze_opset_0)"), std::string::npos) << outcome.text;
}

TEST(ChangeOpset, attributes_of_functions_must_be_inlined) {
  const Rewritten outcome = with_function("{ o = Squeeze<axes: ints = @k>(i) }");
  EXPECT_EQ(outcome.skipped,
            (std::vector<std::string>{"it refers to attributes of its function; inlining makes them known"}));
}

TEST(ChangeOpset, other_domains_stay) {
  const Rewritten outcome = rewritten("change-opset",
                                      "<ir_version: 8, opset_import: [\"\" : 12, \"com.microsoft\" : 1]> "
                                      "g (float[2] x) => (float[2] y) { y = com.microsoft.Gelu(x) }");
  EXPECT_EQ(outcome.steps, 1u);
  EXPECT_EQ(outcome.nodes, "y = com.microsoft.Gelu (x)");
}

TEST(ChangeOpset, damaged_nodes_are_refused) {
  EXPECT_EQ(refusal(11, 13, "g (float[1,2] x) => (float[2] y) { y = Squeeze<axes = 1.5>(x) }"),
            "attribute `axes` has another type in version 11");
  EXPECT_EQ(refusal(11, 13, "g (float[1,2] x) => (float[2] y) { y = Squeeze<axis = 1>(x) }"),
            "version 11 has no attribute `axis`");
  EXPECT_EQ(refusal(11, 13, "g (float[1,2] x) => (float[2] y) { y = Squeezed(x) }"),
            "there is no operator `Squeezed` in version 11");
  EXPECT_EQ(refusal(11, 13, "g (float[1,2] x) => (float[2] y) { y = Squeeze<axes = [0]>() }"),
            "it has 0 inputs, version 11 takes 1 to 1");
}

TEST(ChangeOpset, versions_must_be_known) {
  EXPECT_THROW(changed(13, 99, "g (float[2] x) => (float[2] y) { y = Relu(x) }"), Error);
  EXPECT_THROW(changed(13, 6, "g (float[2] x) => (float[2] y) { y = Relu(x) }"), Error);
  EXPECT_THROW(changed(13, 10, "g (float[2] x) => (float[2] y) { y = Relu(x) }"), Error);
  EXPECT_THROW(changed(99, 13, "g (float[2] x) => (float[2] y) { y = Relu(x) }"), Error);
}

}  // namespace
}  // namespace assay::passes
