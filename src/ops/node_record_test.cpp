#include <gtest/gtest.h>

#include "ops/interpreter.h"
#include "support/parsed_model.h"

namespace assay::ops {
namespace {

using testing_support::parsed;
using testing_support::value_named;

struct Counted {
  explicit Counted(const Node& node) : alpha(node.floating("alpha")) { ++made; }
  double alpha;
  static int made;
};
int Counted::made = 0;

TEST(NodeRecord, WhatIsMadeOfANodeIsMadeOnce) {
  const ir::Model model = parsed("g (float[2] X) => (float[2] Y) { Y = Elu<alpha = 0.5>(X) }");
  const ir::NodeId id = model[model.main_graph()].first;
  const Node plain(model, model[id], nullptr, 21, nullptr);
  plain.read<Counted>();
  plain.read<Counted>();
  EXPECT_EQ(Counted::made, 2);
  std::any made;
  const Node node(plain, made);
  const Node copy = node;
  EXPECT_EQ(node.read<Counted>()->alpha, 0.5);
  EXPECT_EQ(copy.read<Counted>().get(), node.read<Counted>().get());
  EXPECT_EQ(Counted::made, 3);
}

Tensor numbers(DType dtype, std::vector<double> values) {
  const Shape shape = {static_cast<int64_t>(values.size())};
  return make_rounded(dtype, shape, std::move(values));
}

class Runs {
 public:
  explicit Runs(const std::string& text) : model_(parsed(text)), interpreter_(model_, {}) {}

  Datum operator()(const std::vector<Tensor>& inputs) {
    std::vector<InputDatum> data;
    for (size_t i = 0; i < inputs.size(); ++i) data.push_back({model_[model_.main_graph()].inputs[i], inputs[i]});
    const ir::ValueId value = value_named(model_, "Y");
    Datum result;
    interpreter_.run(data, {&value, 1}, [&](ir::ValueId, const Datum& datum) { result = datum; });
    return result;
  }

 private:
  ir::Model model_;
  Interpreter interpreter_;
};

TEST(NodeRecord, OperandsOfOtherTypesGiveOtherResults) {
  Runs run("g (float[n] X, float[m] Z) => (float[k] Y) { Y = Add(X, Z) }");
  const Tensor one = numbers(DType::float32, {1});
  const Tensor three = numbers(DType::float32, {1, 2, 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run({one, one}).tensor().shape(), (Shape{1}));
    EXPECT_EQ(run({one, three}).tensor().shape(), (Shape{3}));
    EXPECT_EQ(run({three, three}).tensor().shape(), (Shape{3}));
    EXPECT_EQ(run({three, three}).tensor().shape(), (Shape{3}));
    EXPECT_THROW(run({three, numbers(DType::float32, {1, 2})}), Error);
  }
}

TEST(NodeRecord, OperandsThatGiveSizesAreLookedAtInEveryRun) {
  Runs run("g (float[6] X, int64[2] S) => (float[a, b] Y) { Y = Reshape(X, S) }");
  const Tensor data = numbers(DType::float32, {1, 2, 3, 4, 5, 6});
  for (const int64_t rows : {2, 3, 6, 1, 2}) {
    const auto wanted = static_cast<double>(rows);
    EXPECT_EQ(run({data, numbers(DType::int64, {wanted, 6 / wanted})}).tensor().shape(), (Shape{rows, 6 / rows}));
  }
}

TEST(NodeRecord, AttributesOfACallAreThoseOfTheCall) {
  Runs run(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
      g (float[1] X) => (float[1] Y) { A = local.f<by = 2.0>(X) B = local.f<by = 3.0>(A) Y = local.f<by = 5.0>(B) }
      <domain: "local", opset_import: ["" : 21]> f<by>(a) => (b) { k = Constant<value_float: float = @by>() b = Mul(a, k) })");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(load_elements<double>(run({numbers(DType::float32, {1})}).tensor()), (std::vector<double>{30}));
  }
}

}  // namespace
}  // namespace assay::ops
