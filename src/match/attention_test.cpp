#include "match/attention.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::match {
namespace {

// `q,k,v->result`, with `*` for factors of Q and K, of each layer, separated by blanks.
std::string layers(std::string_view graph) {
  const ir::Model model = testing_support::parsed(std::string(graph));
  const auto name = [&](ir::ValueId value) { return std::string(model.text(model[value].name)); };
  std::string text;
  for (const AttentionLayer& layer : attention(model)) {
    text += (text.empty() ? "" : " ") + name(layer.q) + "," + name(layer.k) + "," + name(layer.v);
    if (layer.scaled) text += "*" + name(layer.scaled->q_scale) + "*" + name(layer.scaled->k_scale);
    text += "->" + name(model[layer.last].results[0]);
  }
  return text;
}

constexpr std::string_view kHead =
    "g (float[2,4] q, float[4,2] k, float[2,4] v, float[2,2] m) => (float[2,4] y) <float s = {0.5}> {\n";

TEST(Attention, is_found_with_scales_masks_and_casts_between) {
  const std::string head(kHead);
  EXPECT_EQ(layers(head + "  a = MatMul(q, k)\n  b = Softmax(a)\n  y = MatMul(b, v)\n}"), "q,k,v->y");
  EXPECT_EQ(layers(head + "  a = MatMul(q, k)\n  b = Mul(s, a)\n  c = Add(b, m)\n  d = Softmax(c)\n"
                          "  e = Identity(d)\n  y = MatMul(e, v)\n}"),
            "q,k,v->y");
  EXPECT_EQ(layers(head + "  r = Mul(q, s)\n  t = Mul(k, s)\n  a = MatMul(r, t)\n  b = Softmax(a)\n"
                          "  y = MatMul(b, v)\n}"),
            "r,t,v*s*s->y");
}

TEST(Attention, needs_a_product_on_both_sides_of_softmax) {
  const std::string head(kHead);
  EXPECT_EQ(layers(head + "  b = Softmax(m)\n  y = MatMul(b, v)\n}"), "");
  EXPECT_EQ(layers(head + "  a = MatMul(q, k)\n  b = Softmax(a)\n  y = MatMul(m, b)\n}"), "");
  EXPECT_EQ(layers(head + "  a = MatMul(q, k)\n  b = Relu(a)\n  c = Softmax(b)\n  y = MatMul(c, v)\n}"), "");
}

}  // namespace
}  // namespace assay::match
