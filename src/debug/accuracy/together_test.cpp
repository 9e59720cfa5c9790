#include "debug/accuracy/together.h"

#include <algorithm>
#include <cmath>

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

constexpr const char* kConvolution = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[2,3,5,4] x) => (float[2,2,5,4] y) <float[2,3,1,1] w = {0.3,-0.7,0.11,0.9,1.3,-0.2}, float[2] b = {0.5, 0.25}>
  {y = Conv(x, w, b)})";
constexpr const char* kMatMul = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[2,3,4] x) => (float[2,3,2] y) <float[4,2] w = {0.3,-0.7,0.11,0.9,1.3,-0.2,0.77,0.6}> {y = MatMul(x, w)})";

// Of numbers that are off by a millionth.
Datum moved(const Datum& datum, double share) {
  std::vector<double> numbers = numbers_of(datum);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] += share * 1e-6 * static_cast<double>(i % 7);
  return with_numbers(datum, std::move(numbers));
}

double greatest_distance(const Datum& a, const Datum& b) {
  const std::vector<double> left = numbers_of(a), right = numbers_of(b);
  double greatest = 0;
  for (size_t i = 0; i < left.size(); ++i) greatest = std::max(greatest, std::abs(left[i] - right[i]));
  return greatest;
}

TEST_F(Together, WhatIsOffByLittleIsMultipliedInFloat) {
  for (const auto& [text, shape] : {std::pair(kConvolution, kImages), std::pair(kMatMul, tensor::Shape{2, 3, 4})}) {
    const Datum truth = numbered(shape, 0.37);
    compute(text, {truth, moved(truth, 1), moved(truth, -2)});
    ASSERT_TRUE(together_);
    EXPECT_EQ(numbers_of((*together_)[0]), numbers_of(alone_[0]));
    for (size_t i = 1; i < 3; ++i) {
      const double distance = greatest_distance((*together_)[i], alone_[i]);
      EXPECT_LT(distance, 1e-11);  // roundings of float32 in what the sums are off by
      EXPECT_GT(distance, 1e-14);
      EXPECT_GT(greatest_distance((*together_)[i], (*together_)[0]), 1e-7);
    }
  }
}

// Where what a sum sees is all 0 in one of them, or infinite, nothing else is small beside it.
TEST_F(Together, WhatIsOffByMuchSomewhereIsMultipliedInDouble) {
  for (const float number : {0.0F, INFINITY, NAN}) {
    const Datum truth = numbered(kImages, 0.37);
    std::vector<double> numbers = numbers_of(moved(truth, 1));
    for (size_t channel = 0; channel < 3; ++channel) numbers[channel * 20 + 7] = static_cast<double>(number);
    compute(kConvolution, {truth, with_numbers(truth, numbers)});
    ASSERT_TRUE(together_);
    const std::vector<double> all = numbers_of((*together_)[1]), alone = numbers_of(alone_[1]);
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(all[i] == alone[i] || std::isnan(alone[i])) << number << ' ' << i;
  }
  const Datum truth = numbered({2, 3, 4}, 0.37);
  std::vector<double> numbers = numbers_of(moved(truth, 1));
  std::fill_n(numbers.begin() + 8, 4, 0.0);
  compute(kMatMul, {truth, with_numbers(truth, numbers)});
  expect_same(*together_, alone_);
}

// A sum over the channels of a group sees no others.
TEST_F(Together, GroupsAreMultipliedInDouble) {
  const Datum truth = numbered({2, 4, 5, 4}, 0.37);
  compute(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,4,5,4] x) => (float[2,12,5,4] y) <float[12,2,1,1] w = {0.3,-0.7,0.11,0.9,1.3,-0.2,0.7,0.6,0.5,0.4,0.3,0.2,
      -0.3,0.7,-0.11,-0.9,-1.3,0.2,0.13,0.17,0.19,0.23,0.29,0.31}> {y = Conv<group = 2>(x, w)})",
          {truth, moved(truth, 1)});
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
