#include "ops/write_types.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::ops {
namespace {

using testing_support::parsed;
using testing_support::value_named;

std::string declared(const ir::Model& model, ir::ValueId value) {
  if (!model[value].type) return "?";
  std::string text = tensor::name(model[model[value].type].dtype);
  for (const ir::DimId dim : model[model[value].type].dims) text += ' ' + model.dims().text(dim, model.symbols());
  return text;
}

void write(ir::Model& model) {
  Inference inference(model);
  inference.run();
  write_types(inference, model);
}

TEST(WriteTypesTest, FormulasAreWrittenInTheModelsSymbols) {
  ir::Model model = parsed(R"(g (float[n,m] X) => (float[] Y) <int64[1] t = {-1}> {
      a = Concat<axis=0>(X, X) b = Transpose(a) c = Reshape(b, t) Y = Relu(c) })");
  write(model);
  EXPECT_EQ(declared(model, value_named(model, "a")), "float32 2*n m");
  EXPECT_EQ(declared(model, value_named(model, "b")), "float32 m 2*n");
  EXPECT_EQ(declared(model, value_named(model, "c")), "float32 2*n*m");
}

TEST(WriteTypesTest, WhatIsWrittenIsFoundAgain) {
  ir::Model model = parsed("g (float[n,m] X) => (float[] Y) { a = Concat<axis=0>(X, X) k = NonZero(a) Y = Relu(a) }");
  write(model);
  const ir::TypeId first = model[value_named(model, "k")].type;
  write(model);
  EXPECT_EQ(model[value_named(model, "k")].type, first);
  EXPECT_EQ(declared(model, value_named(model, "k")), "int64 2 unk__0");
}

TEST(WriteTypesTest, TypesOfInputsStay) {
  ir::Model model = parsed("g (float[?,2] X) => (float[] Y) { Y = Relu(X) }");
  const std::string before = declared(model, value_named(model, "X"));
  write(model);
  EXPECT_EQ(declared(model, value_named(model, "X")), before);
  EXPECT_EQ(declared(model, value_named(model, "Y")), "float32 unk__0 2");
}

TEST(WriteTypesTest, ValuesInFunctionsHaveNoSingleType) {
  ir::Model model = parsed(R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
      g (bool c, float[2] X, float[3,4] Z) => (float[] Y, float[] W) { Y = local.f(c, X) W = local.f(c, Z) }
      <domain: "local", opset_import: ["" : 21]> f(c, a) => (b) {
        t = Relu(a)
        b = If(c) <then_branch = p () => (float[] d) { d = Neg(t) }, else_branch = q () => (float[] e) { e = Abs(t) }> })");
  std::vector<ir::TypeId> before;
  for (uint32_t i = 0; i < model.value_slots(); ++i) before.push_back(model[ir::ValueId{i}].type);
  write(model);
  EXPECT_EQ(declared(model, value_named(model, "W")), "float32 3 4");
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (model.root(value.graph) == model.main_graph()) continue;
    EXPECT_EQ(value.type, before[i]) << model.text(value.name);
  }
}

}  // namespace
}  // namespace assay::ops
