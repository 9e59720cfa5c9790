#include "engine/lowering/join_norms.h"

#include <gtest/gtest.h>

#include "support/lowered_layers.h"

namespace assay::engine {
namespace {

// The operators of a lowered model, as layers are called, for a device that fuses products of so many rows.
std::vector<std::string> operators(const std::string& text, int64_t most = 4) {
  return testing_support::lowered_layers(
      "<ir_version: 10, opset_import: [\"\" : 23]> " + text,
      {.computes = {tensor::DType::float32, tensor::DType::float16}, .most_fused_rows = most});
}

using Names = std::vector<std::string>;

// Four rows, of which `nodes` make z; w and v are constant matrices, f constant factors, g and u computed ones.
std::string model(const std::string& nodes, const std::string& outputs = "float16[1,4,16] z",
                  const std::string& type = "float16") {
  return "g (" + type + "[1,4,8] x, " + type + "[8] g, " + type + "[8,16] u) => (" + outputs + ") <" + type +
         "[1] one = {1}, " + type + "[8] f = {1,2,3,4,5,6,7,8}, int64[2] size = {8,16}, " + type +
         "[1] two = {2}> { "
         "w = Expand(one, size) v = Expand(two, size) " +
         nodes + " }";
}

TEST(JoinNorms, TakesTheProductThatAloneReadsIt) {
  EXPECT_EQ(operators(model("n = RMSNormalization(x, f) z = MatMul(n, w)")), Names{"RMSNormalization_MatMul"});
  EXPECT_EQ(operators(model("n = LayerNormalization(x, f, f) p = MatMul(n, w) z = Relu(p)")),
            Names{"LayerNormalization_MatMul_Relu"});
  EXPECT_EQ(operators(model("n = RMSNormalization(x, f) z = MatMul(n, w)"), 3), (Names{"RMSNormalization", "MatMul"}));
}

// Factors or matrices that are computed, a value that others read, too, and float32.
TEST(JoinNorms, LeavesApart) {
  const Names apart = {"RMSNormalization", "MatMul"};
  EXPECT_EQ(operators(model("n = RMSNormalization(x, g) z = MatMul(n, w)")), apart);
  EXPECT_EQ(operators(model("n = RMSNormalization(x, f) z = MatMul(n, u)")), apart);
  EXPECT_EQ(operators(model("n = RMSNormalization(x, f) z = MatMul(n, w)", "float16[1,4,16] z, float16[1,4,8] n")),
            apart);
  EXPECT_EQ(operators(model("n = RMSNormalization(x, f) z = MatMul(n, w)", "float[1,4,16] z", "float")), apart);
}

TEST(JoinNorms, HalvesThatMeetAreOneProduct) {
  const std::string gates =
      "n = RMSNormalization(x, f) a = MatMul(n, w) b = MatMul(n, v) s = Sigmoid(a) t = Mul(a, s) ";
  EXPECT_EQ(operators(model(gates + "z = Mul(t, b)")), Names{"RMSNormalization_MatMul_Split_Sigmoid_Mul_Mul"});
  EXPECT_EQ(operators(model("a = MatMul(x, w) b = MatMul(x, v) t = Relu(a) z = Mul(t, b)")),
            Names{"MatMul_Split_Relu_Mul"});
  EXPECT_EQ(operators(model(gates + "z = Mul(t, b)"), 3),
            (Names{"RMSNormalization", "MatMul", "MatMul_Sigmoid_Mul_Mul"}));
  EXPECT_EQ(operators(model(gates + "z = Relu(b)", "float16[1,4,16] z, float16[1,4,16] t")),
            (Names{"RMSNormalization", "MatMul_Sigmoid_Mul", "MatMul_Relu"}));
}

}  // namespace
}  // namespace assay::engine
