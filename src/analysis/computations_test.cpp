#include "analysis/computations.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::analysis {
namespace {

compare::Computation of(const char* text, const char* name, tensor::Shape shape = {2, 3}) {
  ir::Model model = testing_support::parsed(text);
  const uint64_t bytes = *tensor::packed_bytes(tensor::DType::float32, *tensor::element_count(shape));
  const tensor::Tensor x(tensor::DType::float32, std::move(shape), tensor::make_owned(std::vector<std::byte>(bytes)));
  return computations(model, {{"x", x}}).at(name);
}

TEST(Computations, sums_add_up_along_the_longest_path) {
  const compare::Computation y =
      of("g (float[n, 3] x) => (float[n, 1] y) <float[3, 2] a = {1, 2, 3, 4, 5, 6}, float[2, 1] b = {1, 2}> "
         "{ t = MatMul(x, a) u = Relu(t) y = MatMul(u, b) }",
         "y");
  EXPECT_EQ(y.accumulation_length, 5U);
  EXPECT_EQ(y.depth, 2U);
  EXPECT_FALSE(y.transcendental);
  EXPECT_EQ(y.coarsest, tensor::DType::float32);
}

TEST(Computations, reductions_count_their_elements_and_casts_the_coarsest_type) {
  const compare::Computation y =
      of("g (float[2, 3] x) => (float[2] y) <int64[1] axes = {1}> { h = Cast <to = 10> (x) f = Cast <to = 1> (h) e = "
         "Exp(f) "
         "y = ReduceSum <keepdims = 0> (e, axes) }",
         "y");
  EXPECT_EQ(y.accumulation_length, 3U);
  EXPECT_EQ(y.coarsest, tensor::DType::float16);
  EXPECT_TRUE(y.transcendental);
}

TEST(Computations, quantisation_is_remembered) {
  const compare::Computation y =
      of("g (float[2, 3] x) => (float[2, 3] y) <float s = {0.1}, uint8 z = {0}> { q = QuantizeLinear(x, s, z) "
         "d = DequantizeLinear(q, s, z) y = Neg(d) }",
         "y");
  EXPECT_EQ(y.quantized_bits, 8U);
}

TEST(Computations, what_a_body_captures_counts) {
  const compare::Computation y =
      of("g (float[2, 3] x, bool c) => (float[2, 1] y) <float[3, 1] a = {1, 2, 3}> { t = MatMul(x, a) y = If (c) <"
         "then_branch = p () => (float[2, 1] u) { u = Neg(t) }, else_branch = q () => (float[2, 1] v) { v = "
         "Identity(t) }> }",
         "y");
  EXPECT_EQ(y.accumulation_length, 3U);
  EXPECT_EQ(y.depth, 2U);
}

}  // namespace
}  // namespace assay::analysis
