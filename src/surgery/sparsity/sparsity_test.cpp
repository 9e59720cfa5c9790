#include "surgery/sparsity/sparsity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/edit.h"
#include "onnx/text.h"
#include "tensor/casts.h"

namespace assay::surgery {
namespace {

using results::SparsityReport;
using results::WeightSparsity;
using tensor::DType;

SparsityReport inspect(std::string_view graph) {
  Diagnostics findings;
  return inspect_sparsity(
      onnx::parse_text(fmt::format("<ir_version: 10, opset_import: [\"\" : 21]>\n{}", graph), findings));
}

// The only weight that is eligible.
WeightSparsity only(std::string_view graph) {
  const SparsityReport report = inspect(graph);
  EXPECT_EQ(report.weights.size(), 1u) << graph;
  return report.weights.empty() ? WeightSparsity{} : report.weights[0];
}

TEST(Sparsity, conv_looks_along_the_input_channels) {
  const WeightSparsity w =
      only("g (float[1,4,1,1] x) => (float[1,2,1,1] y) <float[2,4,1,1] w = {0,1,0,2, 0,1,3,2}> { y = Conv(x, w) }");
  EXPECT_EQ(w.axis, 1);
  EXPECT_FALSE(w.sparse);
  EXPECT_EQ(w.group_count, 2u);
  EXPECT_EQ(w.bad_group_count, 1u);
  EXPECT_EQ(w.first_bad, (std::vector<int64_t>{1, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(w.zero_fraction, 3.0 / 8);
}

TEST(Sparsity, matmul_looks_along_the_sum) {
  const WeightSparsity second =
      only("g (float[1,4] x) => (float[1,2] y) <float[4,2] w = {0,1, 0,0, 5,0, 6,7}> { y = MatMul(x, w) }");
  EXPECT_EQ(second.axis, 0);
  EXPECT_TRUE(second.sparse);
  const WeightSparsity first =
      only("g (float[4,1] x) => (float[2,1] y) <float[2,4] w = {0,1,0,2, 0,3,4,0}> { y = MatMul(w, x) }");
  EXPECT_EQ(first.axis, 1);
  EXPECT_TRUE(first.sparse);
}

TEST(Sparsity, batched_matmul_counts_axes_from_the_end) {
  EXPECT_EQ(
      only("g (float[1,4] x) => (float[2,1,1] y) <float[2,4,1] w = {0,0,1,1, 0,1,1,0}> { y = MatMul(x, w) }").axis, 1);
  EXPECT_EQ(
      only("g (float[4,1] x) => (float[2,1,1] y) <float[2,1,4] w = {0,0,1,1, 0,1,1,0}> { y = MatMul(w, x) }").axis, 2);
  EXPECT_EQ(only("g (float[1,4] x) => (float[1] y) <float[4] w = {0,0,1,1}> { y = MatMul(x, w) }").axis, 0);
}

TEST(Sparsity, gemm_follows_its_transpositions) {
  const std::string_view plain =
      "g (float[1,4] x) => (float[1,4] y) <float[4,4] w = {0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1}>";
  EXPECT_EQ(only(fmt::format("{} {{ y = Gemm(x, w) }}", plain)).axis, 0);
  EXPECT_TRUE(only(fmt::format("{} {{ y = Gemm(x, w) }}", plain)).sparse);
  EXPECT_EQ(only(fmt::format("{} {{ y = Gemm<transB = 1>(x, w) }}", plain)).axis, 1);
  EXPECT_FALSE(only(fmt::format("{} {{ y = Gemm<transB = 1>(x, w) }}", plain)).sparse);
  EXPECT_EQ(only(fmt::format("{} {{ y = Gemm(w, x) }}", plain)).axis, 1);
  EXPECT_EQ(only(fmt::format("{} {{ y = Gemm<transA = 1>(w, x) }}", plain)).axis, 0);
}

TEST(Sparsity, transpose_moves_the_axis) {
  const std::string_view text =
      "g (float[1,4] x) => (float[1,2] y) <float[4,8] w = {{{}}}> {{ t = Transpose{}(w) y = MatMul(x, t) }}";
  const std::string ones = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
  EXPECT_EQ(only(fmt::format(fmt::runtime(text), ones, "")).axis, 1);
  EXPECT_EQ(only(fmt::format(fmt::runtime(text), ones, "<perm = [1, 0]>")).axis, 1);
  EXPECT_EQ(only(fmt::format(fmt::runtime(text), ones, "<perm = [0, 1]>")).axis, 0);
}

// Output axis i is input axis perm[i]; the inverse is another one here.
TEST(Sparsity, transpose_of_three_axes) {
  const WeightSparsity w = only(
      "g (float[1,4] x) => (float[1,1,2] y) <float[2,1,4] w = {1,0,0,1, 0,1,0,1}>"
      "{ t = Transpose<perm = [1, 2, 0]>(w) y = MatMul(x, t) }");
  EXPECT_EQ(w.axis, 2);
  EXPECT_TRUE(w.sparse);
}

TEST(Sparsity, zero_points_are_zeros) {
  const auto quantised = [](std::string_view weight, std::string_view zero) {
    return only(
        fmt::format("g (float[1,4] x) => (float[1,1] y) <{}, float s = {{0.5}}, {}>"
                    "{{ d = DequantizeLinear(w, s, z) y = MatMul(x, d) }}",
                    weight, zero));
  };
  EXPECT_TRUE(quantised("int8[4,1] w = {0,3,0,4}", "int8 z = {0}").sparse);
  EXPECT_FALSE(quantised("int8[4,1] w = {0,3,0,4}", "int8 z = {3}").sparse);
  EXPECT_TRUE(quantised("uint8[4,1] w = {128,3,128,4}", "uint8 z = {128}").sparse);
  EXPECT_TRUE(quantised("int8[4,1] w = {-7,3,-7,4}", "int8 z = {-7}").sparse);
}

TEST(Sparsity, a_zero_point_for_each_index_of_an_axis) {
  const std::string_view text =
      "g (float[1,4] x) => (float[1,2] y) <int8[4,2] w = {{0,5, 1,5, 0,1, 1,1}}, float[2] s = {{1,1}}, int8[2] z = "
      "{{{}}}>"
      "{{ d = DequantizeLinear<axis = 1>(w, s, z) y = MatMul(x, d) }}";
  EXPECT_TRUE(only(fmt::format(fmt::runtime(text), "0,5")).sparse);
  EXPECT_EQ(only(fmt::format(fmt::runtime(text), "5,0")).bad_group_count, 2u);
  EXPECT_TRUE(only(fmt::format(fmt::runtime(text), "1,5")).sparse);
}

TEST(Sparsity, a_zero_point_for_each_block) {
  const WeightSparsity w = only(
      "g (float[1,8] x) => (float[1,1] y) <int8[8,1] w = {0,0,1,1, 2,2,0,0}, float[2,1] s = {1,1}, int8[2,1] z = {1,2}>"
      "{ d = DequantizeLinear<axis = 0, block_size = 4>(w, s, z) y = MatMul(x, d) }");
  EXPECT_TRUE(w.sparse);
  EXPECT_DOUBLE_EQ(w.zero_fraction, 0.5);
}

TEST(Sparsity, without_zero_point_zero_is_zero) {
  for (const std::string_view type : {"int8", "uint8", "int16", "float8e4m3fn", "float8e5m2fnuz"}) {
    const WeightSparsity w =
        only(fmt::format("g (float[1,4] x) => (float[1,1] y) <{}[4,1] w = {{0,3,0,4}}, float s = {{1}}>"
                         "{{ d = DequantizeLinear(w, s) y = MatMul(x, d) }}",
                         type));
    EXPECT_TRUE(w.sparse) << type;
  }
}

TEST(Sparsity, four_bits) {
  const WeightSparsity w = only(
      "g (float[1,4] x) => (float[1,1] y) <int4[4,1] w = {0,3,0,-4}, float s = {1}>"
      "{ d = DequantizeLinear(w, s) y = MatMul(x, d) }");
  EXPECT_TRUE(w.sparse);
  EXPECT_EQ(w.dtype, "int4");
}

// Two bytes an element: each half alone may be zero without the element being so.
TEST(Sparsity, half_precision) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    for (const double value : {1.0, 0x1p-14}) {
      Diagnostics findings;
      ir::Model model = onnx::parse_text(
          "<ir_version: 10, opset_import: [\"\" : 21]> g (float16[1,4] x) => (float16[1,1] y)"
          "<float16[4,1] w = {0,0,0,0}> { y = MatMul(x, w) }",
          findings);
      std::vector<std::byte> bytes(8);
      tensor::store(dtype, std::vector<double>{value, value, -0.0, 0.0}, 0, bytes);
      ir::Edit edit(model);
      const ir::ValueId weight = model[model.main_graph()].initializers[0];
      edit.set_tensor(model[weight].constant, tensor::Tensor(dtype, {4, 1}, tensor::make_owned(bytes)));
      EXPECT_TRUE(inspect_sparsity(model).weights.at(0).sparse);
      tensor::store(dtype, std::vector<double>{value, value, value, 0.0}, 0, bytes);
      edit.set_tensor(model[weight].constant, tensor::Tensor(dtype, {4, 1}, tensor::make_owned(bytes)));
      EXPECT_FALSE(inspect_sparsity(model).weights.at(0).sparse);
    }
  }
}

TEST(Sparsity, constants_casts_and_bodies) {
  EXPECT_EQ(only("g (float[1,4] x) => (float[1,1] y)"
                 "{ w = Constant<value = float[4,1] {0,0,1,1}>() i = Identity(w) y = MatMul(x, i) }")
                .name,
            "w");
  EXPECT_EQ(only("g (float[1,4] x) => (float[1,1] y) <float16[4,1] w = {0,0,1,1}>"
                 "{ c = Cast<to = 1>(w) y = MatMul(x, c) }")
                .dtype,
            "float16");
  EXPECT_EQ(only("g (float[1,4] x, bool c) => (float[1,1] y) <float[4,1] w = {0,0,1,1}> { y = If(c)"
                 "<then_branch = t () => (float[1,1] p) { p = MatMul(x, w) },"
                 " else_branch = e () => (float[1,1] q) { q = MatMul(x, w) }> }")
                .name,
            "w");
}

TEST(Sparsity, what_is_not_eligible_is_said) {
  const SparsityReport report = inspect(
      "g (float[1,6] x, double[1,4] d) => (float[1,1] y, double[1,1] z, float[1,1] u)"
      "<float[6,1] w = {1,1,1,1,1,1}, double[4,1] v = {0,0,0,0}>"
      "{ y = MatMul(x, w) z = MatMul(d, v) s = Sin(w) u = MatMul(x, s) }");
  EXPECT_TRUE(report.weights.empty());
  ASSERT_EQ(report.skipped.size(), 3u);
  EXPECT_EQ(report.skipped[0].name, "s");
  EXPECT_EQ(report.skipped[0].reason, "produced by an unnamed node, type: Sin is unsupported!");
  EXPECT_EQ(report.skipped[1].reason, "since the length of axis 0 (6 in [6, 1]) is not a multiple of 4");
  EXPECT_FALSE(report.skipped[1].worth_a_warning);
  EXPECT_EQ(report.skipped[2].reason, "due to unsupported type: float64");
}

}  // namespace
}  // namespace assay::surgery
