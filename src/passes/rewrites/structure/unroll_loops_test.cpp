#include <gtest/gtest.h>

#include "passes/unroll/unroll_options.h"
#include "support/pass_checks.h"
#include "support/reference_outputs.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;
using testing_support::reference_outputs;
using testing_support::rewritten;
using testing_support::Rewritten;

constexpr std::string_view kPass = "unroll-loops";

// The nodes that come of the model, which gives the same as before.
std::string unrolled(const std::string& graph) {
  const std::string text = "<ir_version: 8, opset_import: [\"\" : 13]> " + graph;
  const Rewritten outcome = rewritten(kPass, text);
  EXPECT_EQ(outcome.nodes.find("Loop"), std::string::npos) << outcome.nodes;
  EXPECT_EQ(outcome.nodes.find("Scan"), std::string::npos) << outcome.nodes;
  EXPECT_EQ(reference_outputs(outcome.text), reference_outputs(text));
  return outcome.nodes;
}

std::string skipped(const std::string& graph, const Options& options = {}) {
  const Rewritten outcome = rewritten(kPass, graph, options);
  EXPECT_EQ(outcome.steps, 0u) << outcome.nodes;
  return outcome.skipped.empty() ? "" : outcome.skipped[0];
}

TEST(UnrollLoops, states_go_from_copy_to_copy) {
  EXPECT_EQ(unrolled("g () => (float[1] y) <int64 m = {2}, float[1] a = {3}> { [l] y = Loop(m, , a) <body = "
                     "b (int64 i, bool c, float[1] s) => (bool k, float[1] t) { k = Identity(c) t = Add(s, s) }> }"),
            "l_unrolled_0 = Constant <value: tensor = bool {1}> (); l_0_k = Identity (l_unrolled_0); "
            "l_0_t = Add (a, a); l_unrolled_1 = Constant <value: tensor = bool {1}> (); "
            "l_1_k = Identity (l_unrolled_1); l_1_t = Add (l_0_t, l_0_t); y = Identity (l_1_t)");
}

TEST(UnrollLoops, outputs_of_iterations_are_put_together) {
  unrolled(
      "g () => (int64 y, int64[n] z) <int64 m = {3}, int64 a = {5}, bool t = {1}> { y, z = Loop(m, t, a) <body = "
      "b (int64 i, bool c, int64 s) => (bool c, int64 u, int64 v) { u = Mul(s, s) v = Add(u, i) }> }");
}

TEST(UnrollLoops, states_are_exchanged) {
  unrolled(
      "g () => (float[1] y, float[1] z) <int64 m = {3}, float[1] p = {3}, float[1] q = {4}> "
      "{ y, z = Loop(m, , p, q) <body = b (int64 i, bool c, float[1] s, float[1] t) => "
      "(bool c, float[1] t, float[1] s) {}> }");
}

TEST(UnrollLoops, loops_in_loops_go_too) {
  const std::string nodes = unrolled(
      "g () => (float[1] y) <int64 m = {2}, float[1] a = {3}> { y = Loop(m, , a) <body = "
      "b (int64 i, bool c, float[1] s) => (bool c, float[1] t) { t = Loop(m, , s) <body = "
      "d (int64 j, bool e, float[1] w) => (bool e, float[1] x) { x = Add(w, s) }> }> }");
  EXPECT_NE(nodes.find("Add"), std::string::npos);
}

TEST(UnrollLoops, scans_go_forwards_and_backwards) {
  unrolled(
      "g () => (float[2] y, float[2,3] z) <float[2] a = {0, 1}, float[2,3] x = {1, 2, 3, 4, 5, 6}> "
      "{ y, z = Scan(a, x) <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], "
      "scan_output_axes = [-1], scan_output_directions = [1], body = "
      "b (float[2] s, float[2] r) => (float[2] t, float[2] u) { t = Add(s, r) u = Mul(t, r) }> }");
}

TEST(UnrollLoops, leaves_what_decides_itself) {
  const std::string body =
      "body = b (int64 i, bool c, float[1] s) => (bool k, float[1] t) { t = Add(s, s) k = Less(t, h) }";
  EXPECT_EQ(nodes_after(
                kPass, "g (float[1] a, float[1] h) => (float[1] y) <int64 m = {2}> { y = Loop(m, , a) <" + body + "> }")
                .find("y = Loop"),
            0u);
}

// Each level takes its name from the one around it.
TEST(UnrollLoops, names_do_not_grow_without_end) {
  std::string text = "e0 = Neg(a0)";
  for (int i = 0; i < 16; ++i) {
    text = fmt::format(
        "e{1} = Loop(n, , a{1}) <body = b (int64 i{0}, bool c{0}, float[1] a{0}) => (bool c{0}, float[1] e{0}) {{ {2} "
        "}}>",
        i, i + 1, text);
  }
  const Rewritten outcome =
      rewritten(kPass, fmt::format("g (float[1] a16) => (float[1] e16) <int64 n = {{1}}> {{ {} }}", text));
  EXPECT_EQ(outcome.nodes.find("Loop"), std::string::npos);
  EXPECT_LT(outcome.text.size(), 16U * 16U * 500U);
}

TEST(UnrollLoops, keeps_to_its_limits) {
  const auto loop = [](int count) {
    return fmt::format(
        "g (float[1] a) => (float[1] y) <int64 m = {{{}}}> {{ y = Loop(m, , a) <body = "
        "b (int64 i, bool c, float[1] s) => (bool c, float[1] t) {{ t = Add(s, s) }}> }}",
        count);
  };
  EXPECT_EQ(skipped(loop(33)), "it has 33 iterations, the limit is 32");
  EXPECT_EQ(skipped(loop(0)), "it has no iterations");
  Options options;
  options.of<UnrollOptions>().most_nodes = 4;
  EXPECT_EQ(skipped(loop(5), options), "unrolling would make 5 nodes, 4 of 4 are left");
}

}  // namespace
}  // namespace assay::passes
