#include "engine/run/context.h"

#include <array>

#include <gtest/gtest.h>

#include "base/float_rules.h"
#include "ir/edit.h"
#include "support/engine_run.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

// Outputs that somebody holds stay as they are; memory that nobody holds any more is used again.
TEST(Context, OutputsStayWhileTheyAreHeld) {
  ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3] x) => (float[2,3] y) { y = Neg(x) }");
  const std::unique_ptr<Device> device = cpu::make_device({});
  const Program program(model, Devices(*device), {});
  Context context(program, {}, false);
  const auto run = [&](double number) {
    tensor::Datum output;
    context.run(testing_support::drawn_inputs(model, [&](size_t) { return number; }),
                testing_support::outputs_of(model), [&](ir::ValueId, const tensor::Datum& datum) { output = datum; });
    return output;
  };
  const tensor::Datum first = run(1);
  const std::byte* const memory = first.tensor().bytes().data();
  tensor::Datum second = run(2);
  EXPECT_EQ(tensor::load_elements<double>(first.tensor()), std::vector<double>(6, -1));
  EXPECT_EQ(tensor::load_elements<double>(second.tensor()), std::vector<double>(6, -2));
  EXPECT_NE(second.tensor().bytes().data(), memory);
  const std::byte* const next = second.tensor().bytes().data();
  second = tensor::Datum();
  EXPECT_EQ(run(3).tensor().bytes().data(), next);
}

// What a reference step hands on as it is lies in an arena that later steps write.
TEST(Context, WhatReferenceStepsHandOnStays) {
  const ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4,4] x, bool c) => (float[4,4] y, float[4,4] z) "
      "<float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}> { k = MatMul(x, w) "
      "y = If(c) <then_branch = a () => (float[4,4] p) { p = Identity(k) }, else_branch = b () => (float[4,4] q) "
      "{ q = Neg(k) }> l = MatMul(x, w) m = Softmax(l) n = MatMul(m, w) o = Softmax(n) r = MatMul(o, w) z = Tanh(r) }");
  const auto number = [](size_t i) { return i < 16 ? testing_support::sine(i) : 1; };
  const auto seen = testing_support::run_on_engine(model, number).outputs;
  EXPECT_EQ(testing_support::difference(seen, testing_support::run_on_reference(model, number), 1e-5), "");
}

// Parts of what is read backwards lie before it in memory.
TEST(Context, WhatIsReadBackwardsMayBeCut) {
  const ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[3,11] x) => (float[3,4] y, float[3,2] z) "
      "<int64[1] last = {9}, int64[1] end = {-12}, int64[1] step = {-1}, int64[1] one = {1}, int64[1] five = {5}, "
      "int64[2] sizes = {8, 2}> { b = Slice(x, last, end, one, step) c = Slice(b, one, five, one) y = Neg(c) "
      "d, e = Split<axis = 1>(b, sizes) z = Neg(e) }");
  const auto seen = testing_support::run_on_engine(model, testing_support::sine).outputs;
  EXPECT_EQ(testing_support::difference(seen, testing_support::run_on_reference(model, testing_support::sine), 0), "");
}

// A kernel does not read a constant that it has packed, so derived weights are computed once.
TEST(Context, PackedWeightsAreNotMadeAgain) {
  ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[16,2] x) => (float[16,2] y) <float[2,2] w = {0, 0, 0, 0}> "
      "{ y = MatMul(x, w) }");
  const std::array<float, 4> weights = {1, 2, 3, 5};
  int made = 0;
  const auto fill = [&](std::span<std::byte> bytes) {
    ++made;
    std::ranges::copy(std::as_bytes(std::span(weights)), bytes.begin());
  };
  const ir::ValueId value = model[model.main_graph()].initializers[0];
  ir::Edit(model).set_tensor(model[value].constant, tensor::Tensor(tensor::DType::float32, {2, 2},
                                                                   tensor::make_derived(sizeof weights, fill)));
  const std::unique_ptr<Device> device = cpu::make_device({});
  const Program program(model, Devices(*device), {});
  ASSERT_EQ(program.steps().at(0).tactic, "product.tiles");
  EXPECT_EQ(program.steps().at(0).is_packed, (std::vector<bool>{false, true}));
  EXPECT_EQ(made, 1);
  Context context(program, {}, false);
  std::vector<double> result;
  context.run(testing_support::drawn_inputs(model, [](size_t) { return 1; }), testing_support::outputs_of(model),
              [&](ir::ValueId, const tensor::Datum& datum) { result = tensor::load_elements<double>(datum.tensor()); });
  EXPECT_EQ(result.at(0), 4);
  EXPECT_EQ(result.at(1), 7);
  EXPECT_EQ(made, 1);
}

// Products, functions that underflow, and steps of the reference in between; strict runs and callers keep them.
TEST(Context, SubnormalNumbersAreZeroUnlessItIsStrict) {
  const ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,2] x) => (float[1,2] y, float[1,2] e, int64[2,2] n) "
      "<float[2,2] w = {1, 0, 0, 1}, float least = {-100}> "
      "{ y = MatMul(x, w) m = Add(x, least) e = Exp(m) n = NonZero(x) }");
  const auto small = [](size_t) { return 0x1p-140; };
  const FloatRules before = FloatRules::current();
  const auto flushed = testing_support::run_on_engine(model, small).outputs;
  EXPECT_EQ(FloatRules::current(), before);
  EXPECT_EQ(flushed.at(0), (std::vector<double>{0, 0}));
  EXPECT_EQ(flushed.at(1), (std::vector<double>{0, 0}));
  EXPECT_EQ(flushed.at(2), (std::vector<double>{0, 0, 0, 1}));
  const auto kept = testing_support::run_on_engine(model, small, true).outputs;
  EXPECT_EQ(kept.at(0), (std::vector<double>{0x1p-140, 0x1p-140}));
  EXPECT_NEAR(kept.at(1).at(0), 3.78e-44, 2e-45);
}

}  // namespace
}  // namespace assay::engine
