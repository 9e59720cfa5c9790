#include "convert/precision/exact_values.h"

#include <string>

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::convert {
namespace {

// The nodes that stay float32, by name.
std::string kept(const std::string& text, const std::map<std::string, double>& measured = {}) {
  const ir::Model model = testing_support::parsed(text);
  const FloatModel floats(model, tensor::DType::float16);
  HalfOptions options;
  for (const ir::NodeId node : floats.nodes) {
    const auto found = measured.find(std::string(model[node].name));
    if (found != measured.end()) options.measured[node] = found->second;
  }
  const ExactValues exact = find_exact_values(model, floats, options);
  std::string names;
  for (const ir::NodeId node : floats.nodes) {
    if (!exact.reasons[node.index].empty()) names += std::string(model[node].name) + ' ';
  }
  return names;
}

TEST(ExactValues, go_back_to_products_that_make_features) {
  EXPECT_EQ(kept(R"(g (float[1,8] x, float[8,2] w, float[5,4] t) => (float[1,2,4] y) <float s = {100}>
    { [relu] r = Relu(x)  [product] p = MatMul(r, w)  [scaled] q = Mul(p, s)  [cast] i = Cast<to = 7>(q)
      [rows] y = Gather(t, i) })"),
            "scaled ");
}

TEST(ExactValues, go_on_through_products_of_few_terms) {
  const std::string head = "g (float[1,n] p) => (float[1,8,n] y) <float[1,8,1] f = {1, 2, 3, 4, 5, 6, 7, 8}> ";
  EXPECT_EQ(kept(head + R"({ i = Constant<value_ints = [1]>() [twice] q = Add(p, p) [row] u = Unsqueeze(q, i)
    [outer] a = MatMul(f, u)  [sine] y = Sin(a) })"),
            "twice row outer sine ");
}

TEST(ExactValues, small_angles_are_no_reason) {
  const std::string text = R"(g (float[4] x) => (float[4] y, float[4] z) <float k = {30}, float s = {3}>
    { [bounded] t = Tanh(x)  [small] a = Mul(t, s)  [fine] y = Sin(a)  [large] b = Mul(t, k)  [wave] z = Cos(b) })";
  EXPECT_EQ(kept(text), "bounded large wave ");
  EXPECT_EQ(kept(text, {{"wave", 2.0}}), "");
}

TEST(ExactValues, follow_what_loops_carry) {
  EXPECT_EQ(kept(R"(g (float[1] p) => (float[1] y) <int64 n = {3}, float one = {1}>
    { [before] q = Add(p, p)
      [loop] l = Loop(n, , q) <body = b (int64 i, bool c, float[1] h) => (bool d, float[1] r)
        { [same] d = Identity(c)  [step] r = Add(h, one) }>
      [wave] y = Cos(l) })"),
            "before wave step ");
}

TEST(ExactValues, comparisons_with_positions_keep_both_sides) {
  EXPECT_EQ(kept(R"(g (float[1] l, float[4] x, int64[4] p) => (bool[4] y, bool[4] z) <float k = {100}>
    { [length] m = Mul(l, k)  f = Cast<to = 1>(p)  [before] y = Less(f, m)  [other] e = Neg(x)  z = Less(e, l) })"),
            "length ");
}

}  // namespace
}  // namespace assay::convert
