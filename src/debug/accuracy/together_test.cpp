#include "debug/accuracy/together.h"

#include <gtest/gtest.h>

#include "ir/walk.h"
#include "support/parsed_model.h"

namespace assay::debug {
namespace {

const tensor::Shape kImages = {2, 3, 5, 4};

Datum numbered(const tensor::Shape& shape, double step) {
  std::vector<float> numbers(tensor::element_count(shape).value());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(step * static_cast<double>(i % 11) - 1);
  return Datum(tensor::make_tensor(tensor::DType::float32, shape, std::span<const float>(numbers)));
}

// The last node of a model, on these first operands.
class Together : public testing::Test {
 protected:
  void compute(const char* text, const std::vector<Datum>& given) {
    const ir::Model model = testing_support::parsed(text);
    ir::NodeId node;
    for (const ir::NodeId next : ir::nodes(model, model.main_graph())) node = next;
    LayerOracle oracle(model);
    std::vector<OperandSource> operands;
    for (const Datum& first : given) {
      operands.emplace_back([&model, &first](ir::ValueId value) {
        const ir::TensorId constant = model[value].constant;
        return constant ? Datum(model[constant].tensor) : first;
      });
    }
    together_ = products_together(model, node, operands, oracle);
    alone_.clear();
    for (const OperandSource& source : operands) alone_.push_back(oracle.exact(node, source)[0]);
  }

  std::optional<std::vector<Datum>> together_;
  std::vector<Datum> alone_;
};

void expect_same(const std::vector<Datum>& a, const std::vector<Datum>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tensor().shape(), b[i].tensor().shape());
    EXPECT_EQ(a[i].declared(), b[i].declared());
    EXPECT_EQ(numbers_of(a[i]), numbers_of(b[i]));
  }
}

TEST_F(Together, ProductsAreWhatTheyAreAlone) {
  const char* const conv = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3,5,4] x) => (float[2,2,3,2] y) <float[2,3,2,2] w = {1,2,3,4,5,6,7,8,9,8,7,6,5,4,3,2,1,2,3,4,5,6,7,8},
      float[2] b = {0.5, 0.25}> {y = Conv<pads = [1, 0, 0, 1], strides = [2, 2]>(x, w, b)})";
  compute(conv, {numbered(kImages, 0.1), numbered(kImages, 0.7), numbered(kImages, -3)});
  ASSERT_TRUE(together_);
  expect_same(*together_, alone_);
  const char* const matmul = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3,4] x) => (float[2,3,2] y) <float[4,2] w = {1,2,3,4,5,6,7,8}> {y = MatMul(x, w)})";
  compute(matmul, {numbered({2, 3, 4}, 0.1), numbered({2, 3, 4}, 0.7)});
  ASSERT_TRUE(together_);
  expect_same(*together_, alone_);
}

TEST_F(Together, NotWhereOperandsDifferInShapeOrRowsAreNotApart) {
  const char* const matmul = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[n,2] x) => (float[n,2] y) <float[2,2] w = {1,2,3,4}> {y = MatMul(x, w)})";
  compute(matmul, {numbered({3, 2}, 0.1), numbered({4, 2}, 0.1)});
  EXPECT_FALSE(together_);
  const char* const batched = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3,2] x) => (float[2,3,1] y) <float[2,2,1] w = {1,2,3,4}> {y = MatMul(x, w)})";
  compute(batched, {numbered({2, 3, 2}, 0.1), numbered({2, 3, 2}, 0.7)});
  EXPECT_FALSE(together_);
  compute(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) {y = Exp(x)})",
          {numbered({3}, 0.1), numbered({3}, 0.7)});
  EXPECT_FALSE(together_);
}

}  // namespace
}  // namespace assay::debug
