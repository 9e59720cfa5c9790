#include "debug/intervals.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ir/walk.h"
#include "support/parsed_model.h"

namespace assay::debug {
namespace {

// Of the last value, for inputs from -2 to 3.
Interval last_of(const std::string& text) {
  const ir::Model model = testing_support::parsed(text.c_str());
  std::map<ir::ValueId, Interval> inputs;
  for (const ir::ValueId input : model[model.main_graph()].inputs) inputs[input] = {-2, 3};
  const std::map<ir::ValueId, Interval> found = value_intervals(model, inputs);
  return found.at(model.outputs(model.main_graph())[0].value);
}

Interval of(const std::string& node) {
  return last_of(
      "g (float[2,2] x, float[2,2] z) => (float[2,2] y) <float two = {2}, float[2,2] w = {1,-1,2,-3}> {y = " + node +
      "}");
}

void expect(const Interval& interval, double low, double high) {
  EXPECT_DOUBLE_EQ(interval.low, low);
  EXPECT_DOUBLE_EQ(interval.high, high);
}

TEST(Intervals, FollowTheirOperators) {
  expect(of("Add(x, z)"), -4, 6);
  expect(of("Sub(x, z)"), -5, 5);
  expect(of("Mul(x, z)"), -6, 9);
  expect(of("Mul(x, x)"), 0, 9);
  expect(of("Pow(x, two)"), 0, 9);
  expect(of("Neg(x)"), -3, 2);
  expect(of("Abs(x)"), 0, 3);
  expect(of("Relu(x)"), 0, 3);
  expect(of("LeakyRelu<alpha = 0.5>(x)"), -1, 3);
  expect(of("Clip(x, , two)"), -2, 2);
  expect(of("Max(x, two)"), 2, 3);
  expect(of("Exp(x)"), std::exp(-2.0), std::exp(3.0));
  expect(of("Div(x, two)"), -1, 1.5);
  expect(of("Sign(x)"), -1, 1);
  expect(of("Trilu(w)"), -3, 2);
  expect(of("Mean(two, x)"), -2, 3);
}

// Column 0 has weights 1 and 2, column 1 has -1 and -3.
TEST(Intervals, OfSumsTakeTheWorstEndForEachWeight) { expect(of("MatMul(x, w)"), -12, 9); }

TEST(Intervals, WhatIsNotKnownIsUnbounded) {
  for (const char* const node : {"Div(two, x)", "Log(x)", "Sqrt(x)", "MatMul(x, z)", "Softplus(x)"}) {
    EXPECT_FALSE(of(node).is_bounded()) << node;
  }
  const Interval clipped = last_of("g (float[2] x) => (float[2] y) <float[2] b> {b = Log(x) y = Sigmoid(b)}");
  expect(clipped, 0, 1);
}

}  // namespace
}  // namespace assay::debug
