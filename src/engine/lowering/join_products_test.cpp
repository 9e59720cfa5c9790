#include "engine/lowering/join_products.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "ir/edit.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

double joined_sine(size_t i) { return std::sin(1.9 * static_cast<double>(i) + 1); }

// Queries of four columns, keys and values of two, with what makes each from `x` and what uses the values.
std::string joined_model(const std::string& nodes, const std::string& outputs = "float[1,2,2,2] y, float[1,2,1,2] z") {
  return "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,2,3] x) => (" + outputs +
         ") <float[3,4] v = {1,2,3,4,5,6,7,8,9,10,11,12}, float[3,2] w = {1,-2,3,-4,5,-6}, float[4] b = {1,2,3,4}, "
         "float[2] c = {5,6}, float[1,2,2] d = {1,2,3,4}, int64[4] four = {0,0,2,2}, int64[4] two = {0,0,1,2}, "
         "int64[4] across = {0,1,2,-1}> { " +
         nodes + " }";
}

size_t products_after_joining(const std::string& text) {
  const ir::Model model = testing_support::parsed(text);
  ir::Model joined = model.copy();
  ir::Rewriter rewriter(joined);
  join_products(joined, rewriter);
  const auto exact = testing_support::run_on_reference(model, joined_sine);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(joined, joined_sine), exact, 0), "") << text;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, joined_sine).outputs, exact, 1e-6), "")
      << text;
  size_t products = 0;
  for (const ir::NodeId node : ir::nodes(joined, joined.main_graph())) {
    products += joined.text(joined[node].op) == "MatMul" ? 1 : 0;
  }
  return products;
}

TEST(JoinProducts, OfOneValueThatBecomeHeads) {
  for (const char* const nodes : {
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)",
           "p = MatMul(x, v) q = MatMul(x, w) s = Add(q, c) r = Add(b, p) z = Reshape(s, two) y = Reshape(r, four)",
       }) {
    EXPECT_EQ(products_after_joining(joined_model(nodes)), 1U);
  }
}

TEST(JoinProducts, OnlyWherePartsOfRowsServe) {
  for (const char* const nodes : {
           // another value, a bias of one only, a bias that is no row
           "n = Neg(x) p = MatMul(n, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)",
           "p = MatMul(x, v) r = Add(p, b) y = Reshape(r, four) q = MatMul(x, w) z = Reshape(q, two)",
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) s = Add(q, d) z = Reshape(s, two)",
           // rows that are used whole, or cut elsewhere
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) n = Relu(q) z = Reshape(n, two)",
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, across)",
       }) {
    EXPECT_EQ(products_after_joining(joined_model(nodes)), 2U) << nodes;
  }
  // what is an output, too
  EXPECT_EQ(
      products_after_joining(joined_model("p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)",
                                          "float[1,2,2,2] y, float[1,2,1,2] z, float[1,2,2] q")),
      2U);
}

class CountedStorage final : public tensor::Storage {
 public:
  uint64_t size_bytes() const override { return elements_.size() * sizeof(float); }
  tensor::Bytes bytes() const override { return std::as_bytes(std::span(elements_)); }
  void release() const override { ++released; }
  mutable int released = 0;

 private:
  std::array<float, 12> elements_ = {};
};

TEST(JoinProducts, PartsNeedNoMemoryOnceTheyAreSideBySide) {
  ir::Model model = testing_support::parsed(
      joined_model("p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)"));
  const auto part = std::make_shared<const CountedStorage>();
  const ir::ValueId v = model[model.main_graph()].initializers[0];
  ir::Edit(model).set_tensor(model[v].constant, {tensor::DType::float32, {3, 4}, part});
  ir::Rewriter rewriter(model);
  join_products(model, rewriter);
  EXPECT_EQ(part->released, 0);
  for (const ir::ValueId value : model[model.main_graph()].initializers) {
    const tensor::Tensor& tensor = model[model[value].constant].tensor;
    if (tensor.shape() == tensor::Shape{3, 6}) static_cast<void>(tensor.bytes());
  }
  EXPECT_EQ(part->released, 1);
}

}  // namespace
}  // namespace assay::engine
