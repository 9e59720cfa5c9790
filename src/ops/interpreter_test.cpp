#include "ops/interpreter.h"

#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/parsed_model.h"

namespace assay::ops {
namespace {

using testing_support::parsed;
using testing_support::value_named;

Tensor floats(Shape shape, std::vector<double> values) {
  return make_rounded(DType::float32, std::move(shape), std::move(values));
}

Datum run(const ir::Model& model, const std::vector<Tensor>& inputs, const InterpreterOptions& options = {},
          std::string_view wanted = "Y") {
  Interpreter interpreter(model, options);
  std::vector<InputDatum> data;
  for (size_t i = 0; i < inputs.size(); ++i) data.push_back({model[model.main_graph()].inputs[i], inputs[i]});
  const ir::ValueId value = value_named(model, wanted);
  Datum result;
  interpreter.run(data, {&value, 1}, [&](ir::ValueId, const Datum& datum) { result = datum; });
  return result;
}

std::vector<ir::NodeId> nodes_of(const ir::Model& model) {
  std::vector<ir::NodeId> nodes;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) nodes.push_back(node);
  return nodes;
}

std::string failure(const ir::Model& model, const std::vector<Tensor>& inputs, const InterpreterOptions& options = {}) {
  try {
    run(model, inputs, options);
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

TEST(InterpreterTest, RunsNodesAndFunctions) {
  const ir::Model model = parsed(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
      g (float[2] X) => (float[2] Y) { Y = local.scaled<by=3.0>(X) }
      <domain: "local", opset_import: ["" : 21]> scaled<by>(a) => (b)
      { k = Constant<value_float: float = @by>() b = Mul(a, k) })");
  EXPECT_EQ(load_elements<double>(run(model, {floats({2}, {1, 2})}).tensor()), (std::vector<double>{3, 6}));
}

TEST(InterpreterTest, ValuesBetweenCanBeHad) {
  const ir::Model model = parsed("g (float[2] X) => (float[2] Y) { t = Neg(X) Y = Neg(t) }");
  EXPECT_EQ(load_elements<double>(run(model, {floats({2}, {1, 2})}, {}, "t").tensor()), (std::vector<double>{-1, -2}));
}

TEST(InterpreterTest, ErrorsNameTheNode) {
  const ir::Model model = parsed("g (float[n] X, float[m] Z) => (float[k] Y) { [sum] Y = Add(X, Z) }");
  EXPECT_EQ(failure(model, {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}),
            "node `sum` (Add): shapes [2] and [3] do not broadcast");
}

TEST(InterpreterTest, FailuresCanBePassedOver) {
  const ir::Model model = parsed(R"(g (float[n] X, float[m] Z) => (float Y, float W)
      { Y = Add(X, Z) V = Neg(Y) W = Neg(X) })");
  Interpreter interpreter(model, {});
  const std::vector<InputDatum> data{{model[model.main_graph()].inputs[0], floats({2}, {1, 2})},
                                     {model[model.main_graph()].inputs[1], floats({3}, {1, 2, 3})}};
  const std::vector<ir::ValueId> wanted{value_named(model, "Y"), value_named(model, "V"), value_named(model, "W")};
  std::vector<ir::ValueId> seen;
  size_t failures = 0;
  const auto count = [&](ir::NodeId, const Error&) { return ++failures > 0; };
  const FailureSink sink(count);
  interpreter.run(
      data, wanted, [&](ir::ValueId value, const Datum&) { seen.push_back(value); }, &sink);
  EXPECT_EQ(failures, 1u);
  EXPECT_EQ(seen, std::vector<ir::ValueId>{wanted[2]});
}

TEST(InterpreterTest, LoopsWithoutEndAreStopped) {
  const ir::Model model = parsed(R"(g (float[1] X) => (float Y) <bool on = {1}>
      { Y = Loop("", on, X) <body = b (int64 i, bool c, float[1] a) => (bool d, float[1] e)
        { d = Identity(c) e = Neg(a) }> })");
  EXPECT_NE(failure(model, {floats({1}, {1})}, {.max_steps = 50}).find("did not end within 50 iterations"),
            std::string::npos);
}

TEST(InterpreterTest, MemoryIsEstimatedBeforeItIsTaken) {
  const ir::Model model = parsed("g (int64[2] X) => (float Y) { a = ConstantOfShape(X) Y = Exp(a) }");
  const Tensor shape = make_rounded(DType::int64, {2}, std::vector<int64_t>{100000, 100000});
  EXPECT_NE(failure(model, {shape}, {.max_memory_bytes = 1 << 20}).find("of memory"), std::string::npos);
}

TEST(InterpreterTest, DimsThatOverflowAreRefused) {
  const ir::Model model = parsed("g (float[2] X, int64[1] r) => (float[] Y) { Y = Tile(X, r) }");
  const Tensor repeats = make_rounded(DType::int64, {1}, std::vector<int64_t>{INT64_MAX});
  EXPECT_NE(failure(model, {floats({2}, {1, 2}), repeats}).find("do not fit into 64 bits"), std::string::npos);
}

TEST(InterpreterTest, RecursiveFunctionsAreRefused) {
  const ir::Model model = parsed(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
      g (float[2] X) => (float[2] Y) { Y = local.f(X) }
      <domain: "local", opset_import: ["" : 21, "local" : 1]> f(a) => (b) { b = local.f(a) })");
  EXPECT_NE(failure(model, {floats({2}, {1, 2})}).find("calls itself"), std::string::npos);
}

// 1 + 2^-30 is lost in float32 and kept in fp64 mode.
TEST(InterpreterTest, Fp64ModeDoesNotRound) {
  const ir::Model model = parsed(R"(g (float[1] X, float[1] Z) => (float[1] Y) { s = Add(X, Z) Y = Sub(s, X) })");
  const std::vector<Tensor> inputs{floats({1}, {1}), floats({1}, {std::ldexp(1.0, -30)})};
  EXPECT_EQ(load_elements<double>(run(model, inputs).tensor()).front(), 0);
  const Datum wide = run(model, inputs, {.is_wide = true});
  EXPECT_EQ(wide.declared(), DType::float32);
  EXPECT_EQ(wide.tensor().dtype(), DType::float64);
  EXPECT_EQ(load_elements<double>(wide.tensor()).front(), std::ldexp(1.0, -30));
}

TEST(InterpreterTest, BitsDoNotDependOnThreads) {
  const ir::Model model = parsed(R"(g (float[70,90] X, float[90,110] W) => (float Y)
      { m = MatMul(X, W) s = Softmax(m) Y = ReduceSum<keepdims=0>(s) })");
  std::vector<double> x(70 * 90);
  std::vector<double> w(90 * 110);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  for (size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<double>(i));
  const std::vector<Tensor> inputs{floats({70, 90}, x), floats({90, 110}, w)};
  std::vector<double> results;
  for (const unsigned threads : {1U, 2U, 5U}) {
    set_thread_count(threads);
    results.push_back(load_elements<double>(run(model, inputs, {}, "s").tensor()).at(4321));
  }
  set_thread_count(0);
  EXPECT_EQ(std::bit_cast<uint64_t>(results[0]), std::bit_cast<uint64_t>(results[1]));
  EXPECT_EQ(std::bit_cast<uint64_t>(results[0]), std::bit_cast<uint64_t>(results[2]));
}

TEST(InterpreterTest, OneNodeIsEvaluatedOnGivenInputs) {
  const ir::Model model = parsed(R"(g (float[2] X, bool C) => (float[2] Y)
      { h = Relu(X)
        Y = If(C) <then_branch = a () => (float[2] p) { p = Add(h, X) }, else_branch = b () => (float[2] q) { q = Neg(h) }> })");
  Interpreter interpreter(model, {});
  const std::vector<ir::NodeId> nodes = nodes_of(model);
  const Datum given = floats({2}, {3, -5});
  const std::vector<Datum> relu = interpreter.evaluate(nodes[0], {&given, 1});
  EXPECT_EQ(load_elements<double>(relu.at(0).tensor()), (std::vector<double>{3, 0}));
  const Datum yes = make_rounded(DType::boolean, {}, std::vector<int64_t>{1});
  const std::vector<InputDatum> captured = {{value_named(model, "h"), floats({2}, {1, 1})},
                                            {value_named(model, "X"), floats({2}, {10, 20})}};
  const std::vector<Datum> sum = interpreter.evaluate(nodes[1], {&yes, 1}, captured);
  EXPECT_EQ(load_elements<double>(sum.at(0).tensor()), (std::vector<double>{11, 21}));
  EXPECT_THROW(interpreter.evaluate(nodes[1], {&yes, 1}), Error);  // nothing of the last call is left
}

TEST(InterpreterTest, NodesOfTheMainGraphAreTimedInOrder) {
  const ir::Model model = parsed("g (float[2] X) => (float[2] Y) { h = Relu(X) Y = Neg(h) }");
  Interpreter interpreter(model, {.times_nodes = true});
  const std::vector<InputDatum> inputs = {{value_named(model, "X"), floats({2}, {3, -5})}};
  for (int runs = 0; runs < 2; ++runs) interpreter.run(inputs, {}, [](ir::ValueId, const Datum&) {});
  std::vector<ir::NodeId> timed;
  for (const NodeSeconds& node : interpreter.node_seconds()) {
    timed.push_back(node.node);
    EXPECT_GT(node.seconds, 0);
  }
  EXPECT_EQ(timed, nodes_of(model));
}

TEST(InterpreterTest, IntegerArithmeticIsDefined) {
  const ir::Model model = parsed("g (int32[2] X, int32[2] Z) => (int32[2] Y) { Y = Div(X, Z) }");
  const Tensor x = make_rounded(DType::int32, {2}, std::vector<int64_t>{INT32_MIN, 7});
  const Tensor z = make_rounded(DType::int32, {2}, std::vector<int64_t>{-1, 0});
  EXPECT_EQ(load_elements<int64_t>(run(model, {x, z}).tensor()), (std::vector<int64_t>{INT32_MIN, 0}));
}

}  // namespace
}  // namespace assay::ops
