// Layers on a card whose kernels the host runs: which kernels compute them, and what they give.
#include <gtest/gtest.h>

#include "simt/on_card.h"

namespace assay::engine::cuda {
namespace {

using testing_support::difference;
using testing_support::OnCard;

std::string opset() { return "<ir_version: 10, opset_import: [\"\" : 21]> "; }

void check(const std::string& text, const std::vector<std::string>& tactics, double tolerance = 1e-5) {
  const OnCard model(opset() + text);
  EXPECT_EQ(model.tactics(), tactics) << text;
  Context context(model.program(), {}, false);
  const auto expected = model.expected();
  for (int run = 0; run < 3; ++run) EXPECT_EQ(difference(model.run(context), expected, tolerance), "") << text;
}

TEST(CardLayers, ChainsWithBroadcastOperands) {
  check("g (float[2,3,8] x, float[3,1] y) => (float[2,3,8] z) { a = Mul(x, y) b = Sigmoid(a) z = Add(b, x) }",
        {"elementwise.chain"});
}

TEST(CardLayers, Products) {
  check("g (float[33,20] x, float[20,17] y) => (float[33,17] z) { a = MatMul(x, y) z = Relu(a) }", {"product.tiles"});
  check("g (float16[2,40,64] x, float16[2,64,24] y) => (float16[2,40,24] z) { z = MatMul(x, y) }", {"product.tiles"},
        2e-3);
}

}  // namespace
}  // namespace assay::engine::cuda
