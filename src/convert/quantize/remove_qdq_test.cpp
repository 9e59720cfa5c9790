#include <gtest/gtest.h>

#include "convert/quantize/insert_qdq.h"
#include "ir/verify.h"
#include "passes/pipelines.h"
#include "support/origin_checks.h"
#include "support/parsed_model.h"

namespace assay::convert {
namespace {

using testing_support::parsed;
using testing_support::value_named;

void run_pass(ir::Model& model, std::string_view pass) {
  const uint32_t first_made = model.node_slots();
  ir::Rewriter rewriter(model);
  const passes::Options options;
  passes::Pipeline(model, rewriter, options).run({&pass, 1});
  EXPECT_EQ(testing_support::own_origins(model, first_made), "");
  ir::check_structure(model);
}

std::string ops(const ir::Model& model) {
  std::string text;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    text += std::string(model.text(model[node].op)) + ' ';
  }
  return text;
}

constexpr const char* kQuantized = R"(net (float[1,2] x) => (float[1,2] y)
  <int8[2,2] w = {1, 2, 3, -4}, float[2] s = {0.5, 0.25}, int8[2] z = {0, 0}, float t = {1}, int8 o = {0}> {
  q = QuantizeLinear(x, t, o)  d = DequantizeLinear(q, t, o)
  v = DequantizeLinear<axis = 1>(w, s, z)  y = MatMul(d, v) })";

TEST(RemoveQdq, WeightsBecomeFloatsExactly) {
  ir::Model model = parsed(kQuantized);
  run_pass(model, "dequantize-weights");
  EXPECT_EQ(ops(model), "QuantizeLinear DequantizeLinear MatMul ");
  const tensor::Tensor weight = model[model[value_named(model, "v")].constant].tensor;
  const float expected[] = {0.5, 0.5, 1.5, -1};
  ASSERT_EQ(weight.bytes().size(), sizeof(expected));
  EXPECT_EQ(std::memcmp(weight.bytes().data(), expected, sizeof(expected)), 0);
}

TEST(RemoveQdq, PairsGoToo) {
  ir::Model model = parsed(kQuantized);
  run_pass(model, "remove-qdq");
  EXPECT_EQ(ops(model), "MatMul ");
}

TEST(RemoveQdq, PairsOfDifferentScalesStay) {
  ir::Model model = parsed(R"(net (float[2] x) => (float[2] y) <float s = {1}, float t = {2}>
    { q = QuantizeLinear(x, s)  d = DequantizeLinear(q, t)  y = Neg(d) })");
  run_pass(model, "remove-qdq");
  EXPECT_EQ(ops(model), "QuantizeLinear DequantizeLinear Neg ");
}

TEST(RemoveQdq, TakesBackWhatInsertQdqDid) {
  ir::Model model = parsed("net (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul(x, w) }");
  Diagnostics findings;
  EXPECT_TRUE(insert_qdq(model, {}, {{"x", {-1, 1}}}, findings).changed);
  run_pass(model, "remove-qdq");
  EXPECT_EQ(ops(model), "MatMul ");
}

}  // namespace
}  // namespace assay::convert
