#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::rewritten;
using testing_support::Rewritten;

Rewritten inlined(const std::string& graph, const std::string& functions, const std::string& imports = R"("" : 21)") {
  return rewritten("inline-functions",
                   "<ir_version: 10, opset_import: [" + imports + ", \"local\" : 1]> " + graph + functions);
}

std::string function(const std::string& text, const std::string& version = "21") {
  return " <domain: \"local\", opset_import: [\"\" : " + version + ", \"local\" : 1]> " + text;
}

TEST(InlineFunctions, NamesByTheCall) {
  const Rewritten outcome = inlined("g (float[2] x) => (float[2] y) {[one] a = local.f(x) y = local.f(a)}",
                                    function("f (i) => (o) {t = Neg(i) o = Abs(t)}"));
  EXPECT_EQ(outcome.nodes, "one_t = Neg (x); a = Abs (one_t); y_t = Neg (a); y = Abs (y_t)");
  EXPECT_EQ(outcome.steps, 3u) << "two calls and the removal";
  EXPECT_EQ(outcome.text.find("domain"), std::string::npos) << "the function is gone";
}

TEST(InlineFunctions, BindsAttributes) {
  const Rewritten outcome = inlined("g (float[2] x) => (float[2] y) {a = local.f<al=0.5>(x) y = local.f(a)}",
                                    function("f <al: float = 0.25> (i) => (o) {o = Elu<alpha: float = @al>(i)}"));
  EXPECT_EQ(outcome.nodes, "a = Elu <alpha: float = 0.5> (x); y = Elu <alpha: float = 0.25> (a)");
  EXPECT_EQ(inlined("g (float[2] x) => (float[2] y) {y = local.f(x)}",
                    function("f <al> (i) => (o) {o = Elu<alpha: float = @al>(i)}"))
                .nodes,
            "y = Elu (x)");
}

TEST(InlineFunctions, GoesThroughFunctionsOfFunctions) {
  const Rewritten outcome = inlined("g (float[2] x) => (float[2] y) {y = local.f<k=0.5>(x)}",
                                    function("f <k> (i) => (o) {t = local.h<al: float = @k>(i) o = Neg(t)}") +
                                        function("h <al: float = 2.0> (i) => (o) {o = Elu<alpha: float = @al>(i)}"));
  EXPECT_EQ(outcome.nodes, "y_t = Elu <alpha: float = 0.5> (x); y = Neg (y_t)");
}

TEST(InlineFunctions, OutputsMayBeInputs) {
  EXPECT_EQ(inlined("g (float[2] x) => (float[2] y, float[2] z) {y, z = local.f(x)}",
                    function("f (i) => (i, o) {o = Neg(i)}"))
                .nodes,
            "z = Neg (x); y = Identity (x)");
}

TEST(InlineFunctions, LeavesOutWhatTheCallLeavesOut) {
  EXPECT_EQ(inlined("g (float[2] x) => (float[2] y) {y = local.f(x)}", function("f (i, low) => (o) {o = Clip(i, low)}"))
                .nodes,
            "y = Clip (x)");
}

TEST(InlineFunctions, BodiesOfTheFunctionGetNamesOfTheirOwn) {
  const Rewritten outcome = inlined("g (bool c, float[2] x) => (float[2] y) {a = local.f(c, x) y = local.f(c, a)}",
                                    function("f (c, i) => (o) {o = If(c) <then_branch = t () => (u) {u = Neg(i)}, "
                                             "else_branch = e () => (v) {v = Abs(i)}>}"));
  EXPECT_NE(outcome.text.find("a_u = Neg (x)"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("y_u = Neg (a)"), std::string::npos) << outcome.text;
}

TEST(InlineFunctions, KeepsOperatorsThatMeanAnotherThing) {
  const std::string graph = "g (float[2] x) => (float[2] y) {y = local.f(x)}";
  EXPECT_EQ(inlined(graph, function("f (i) => (o) {o = Neg(i)}", "13")).nodes, "y = Neg (x)");
  const Rewritten outcome = inlined(graph, function("f (i) => (o) {o = Softmax(i)}", "12"));
  EXPECT_EQ(outcome.steps, 0u);
  ASSERT_EQ(outcome.skipped.size(), 1u);
  EXPECT_EQ(outcome.skipped[0],
            "the function `f` stays: Softmax means another thing in version 12 of its domain than in version 21 of the "
            "model");
}

TEST(InlineFunctions, KeepsWhatCallsItself) {
  const Rewritten outcome =
      inlined("g (float[2] x) => (float[2] y) {y = local.f(x)}",
              function("f (i) => (o) {o = local.h(i)}") + function("h (i) => (o) {o = local.f(i)}"));
  EXPECT_EQ(outcome.steps, 0u);
  EXPECT_EQ(outcome.skipped, (std::vector<std::string>{"the function `f` stays: the function calls itself"}));
}

TEST(InlineFunctions, DoesNotGrowTheModelWithoutEnd) {
  std::string functions = function("f0 (i) => (o) {o = Neg(i)}");
  for (int i = 1; i <= 40; ++i) {
    const std::string below = std::to_string(i - 1);
    functions +=
        function("f" + std::to_string(i) + " (i) => (o) {a = local.f" + below + "(i) o = local.f" + below + "(a)}");
  }
  const Rewritten outcome = inlined("g (float[2] x) => (float[2] y) {y = local.f40(x)}", functions);
  EXPECT_EQ(outcome.steps, 0u);
  ASSERT_EQ(outcome.skipped.size(), 1u);
  // 2^40 nodes Neg, and 2^40 - 1 pairs of calls. The model has 124 places for nodes.
  EXPECT_EQ(outcome.skipped[0],
            "the function `f40` stays: it expands to 3298534883326 nodes, 202480 of 202480 are left");
}

}  // namespace
}  // namespace assay::passes
