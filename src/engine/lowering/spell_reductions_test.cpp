#include "engine/lowering/spell_reductions.h"

#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kOperators[] = {"ReduceMin", "ReduceL1", "ReduceLogSum", "ReduceLogSumExp"};

double positive(size_t i) { return 1.5 + testing_support::sine(i); }
double large(size_t i) { return 3000 * testing_support::sine(i); }
double all_least(size_t) { return -kInfinity; }
double with_infinity(size_t i) { return i % 35 == 3 ? kInfinity : testing_support::sine(i); }
double with_nan(size_t i) { return i % 35 == 4 ? std::numeric_limits<double>::quiet_NaN() : testing_support::sine(i); }

ir::Model model_of(int version, const std::string& node, const std::string& y, const char* type = "float") {
  return parsed(
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> g ({}[4,5,7] x) => ({}{} y) "
                  "<int64[1] last = {{2}}, int64[2] outer = {{0,1}}> {{ y = {} }}",
                  version, type, type, y, node));
}

ir::Model spelled(const ir::Model& model, uint64_t steps) {
  ir::Model made = model.copy();
  ir::Rewriter rewriter(made);
  spell_reductions(made, rewriter);
  EXPECT_EQ(rewriter.steps().size(), steps);
  return made;
}

void expect_same(const ir::Model& model, double (*number)(size_t), const std::string& what) {
  const std::vector<std::vector<double>> expected = run_on_reference(model, number);
  EXPECT_EQ(difference(run_on_reference(spelled(model, 1), number), expected, 1e-6), "") << what;
  EXPECT_EQ(difference(run_on_engine(model, number).outputs, expected, 1e-6), "") << what;
}

TEST(SpellReductions, agree_with_the_operators) {
  for (const std::string op : kOperators) {
    for (double (*number)(size_t) : {positive, large, all_least, with_infinity, with_nan}) {
      if (op == "ReduceLogSum" && number != positive) continue;  // of negative sums there is none
      expect_same(model_of(18, op + "(x, last)", "[4,5,1]"), number, op);
      expect_same(model_of(18, op + "<keepdims = 0>(x, outer)", "[7]"), number, op);
      expect_same(model_of(13, op + "<axes = [-1], keepdims = 0>(x)", "[4,5]"), number, op);
      expect_same(model_of(11, op + "<axes = [0,1]>(x)", "[1,1,7]"), number, op);
      expect_same(model_of(17, op + "<keepdims = 0>(x)", "[]"), number, op);
    }
  }
}

TEST(SpellReductions, go_over_one_run_of_dims_after_the_other) {
  for (const std::string op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogSumExp"}) {
    for (const bool keeps : {false, true}) {
      const ir::Model model =
          parsed(fmt::format("<ir_version: 8, opset_import: [\"\" : 18]> g (float[3,2,1,4,5] x) => (float{} y) "
                             "<int64[3] axes = {{-2,0,2}}> "
                             "{{ y = {}<keepdims = {}>(x, axes) }}",
                             keeps ? "[1,2,1,1,5]" : "[2,5]", op, keeps ? 1 : 0));
      expect_same(model, testing_support::sine, op);
      const testing_support::EngineRun run = run_on_engine(model, testing_support::sine);
      EXPECT_EQ(std::ranges::count(run.tactics, "reference"), 0) << op;
    }
    // A dim of 1 is no hindrance.
    if (op == "ReduceSum") {
      spelled(
          parsed("<ir_version: 8, opset_import: [\"\" : 18]> g (float[3,1,4] x) => (float[1,1,1] y) <int64[2] axes = "
                 "{0,2}> { y = ReduceSum(x, axes) }"),
          0);
    }
  }
}

TEST(SpellReductions, are_computed_with_what_comes_before) {
  const ir::Model model = parsed(
      "<ir_version: 10, opset_import: [\"\" : 18]> g (float[40,70] x, float[70] b) => (float[40,1] y, float[40,1] z) "
      "<int64[1] last = {1}> { d = Sub(x, b) y = ReduceL1(d, last) p = Mul(x, b) z = ReduceMin(p, last) }");
  const testing_support::EngineRun run = run_on_engine(model, testing_support::sine);
  EXPECT_EQ(std::ranges::count(run.tactics, "reduction.rows"), 2);
  EXPECT_EQ(std::ranges::count(run.tactics, "reference"), 0);
  EXPECT_EQ(std::ranges::count(run.tactics, "elementwise.tape"), 1);  // the least one's sign
  EXPECT_EQ(difference(run.outputs, run_on_reference(model, testing_support::sine), 1e-6), "");
}

TEST(SpellReductions, others_stay_as_they_are) {
  spelled(model_of(18, "ReduceMin(x, last)", "[4,5,1]", "double"), 0);
  spelled(model_of(18, "ReduceL1<noop_with_empty_axes = 1>(x)", "[4,5,7]"), 0);
  spelled(parsed("<ir_version: 10, opset_import: [\"\" : 18]> g (float[4,N] x) => (float[4,1] y) <int64[1] last = {1}> "
                 "{ y = ReduceMin(x, last) }"),
          0);
  spelled(parsed("<ir_version: 10, opset_import: [\"\" : 18]> g (float[4,0] x) => (float[4,1] y) <int64[1] last = {1}> "
                 "{ y = ReduceMin(x, last) }"),
          0);
  spelled(parsed("<ir_version: 10, opset_import: [\"\" : 18]> g (float[4,5] x, int64[1] axes) => (float y) "
                 "{ y = ReduceMin(x, axes) }"),
          0);
}

}  // namespace
}  // namespace assay::engine
