#include "engine/lowering/join_products.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/edit.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

double joined_sine(size_t i) { return std::sin(1.9 * static_cast<double>(i) + 1); }

// Queries of four columns, keys and values of two, with what makes each from `x` and what uses the values.
std::string joined_model(const std::string& nodes, const std::string& outputs = "float[1,2,2,2] y, float[1,2,1,2] z") {
  return "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,2,3] x) => (" + outputs +
         ") <float[3,4] v = {1,2,3,4,5,6,7,8,9,10,11,12}, float[3,2] w = {1,-2,3,-4,5,-6}, float[4] b = {1,2,3,4}, "
         "float[2] c = {5,6}, float[1,2,2] d = {1,2,3,4}, int64[4] four = {0,0,2,2}, int64[4] two = {0,0,1,2}, "
         "int64[4] across = {1,4,1,1}> { " +
         nodes + " }";
}

size_t products_after_joining(const std::string& text) {
  const ir::Model model = testing_support::parsed(text);
  ir::Model joined = model.copy();
  ir::Rewriter rewriter(joined);
  join_products(joined, rewriter, LoweringRules());
  const auto exact = testing_support::run_on_reference(model, joined_sine);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(joined, joined_sine), exact, 0), "") << text;
  EXPECT_EQ(testing_support::difference(testing_support::run_on_engine(model, joined_sine).outputs, exact, 1e-6), "")
      << text;
  size_t products = 0;
  for (const ir::NodeId node : ir::nodes(joined, joined.main_graph())) {
    const std::string_view op = joined.text(joined[node].op);
    products += op == "MatMul" || op == "Gemm" || op == "MatMulNBits" ? 1 : 0;
  }
  return products;
}

TEST(JoinProducts, OfOneValueThatBecomeHeads) {
  for (const char* const nodes : {
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)",
           "p = MatMul(x, v) q = MatMul(x, w) s = Add(q, c) r = Add(b, p) z = Reshape(s, two) y = Reshape(r, four)",
       }) {
    EXPECT_EQ(products_after_joining(joined_model(nodes)), 1U);
  }
}

// Of one row, heads need no Transpose: simplification has made one Reshape of both.
TEST(JoinProducts, OfOneRowWhoseHeadsAreRows) {
  EXPECT_EQ(products_after_joining(
                "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,1,3] x) => (float[2,3,1,2] y, float[2,1,1,2] z) "
                "<float[3,6] v = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18}, float[3,2] w = {1,-2,3,-4,5,-6}, "
                "int64[4] three = {2,3,1,2}, int64[4] one = {2,1,1,2}> { "
                "p = MatMul(x, v) y = Reshape(p, three) q = MatMul(x, w) z = Reshape(q, one) }"),
            1U);
}

// A model of rows [3, 3] by weights of four and of two columns, which become heads.
std::string matrices_model(const std::string& weights, const std::string& nodes) {
  return "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> g (float[3,3] x) => (float[3,2,2] y, "
         "float[3,1,2] z) <int64[3] four = {3,2,2}, int64[3] two = {3,1,2}, float[4] b = {1,2,3,4}, float[2] c = "
         "{5,6}, " +
         weights + "> { " + nodes + " y = Reshape(p, four) z = Reshape(q, two) }";
}

TEST(JoinProducts, OfMatricesWithTheirRows) {
  const std::string weights = "float[3,4] v = {1,2,3,4,5,6,7,8,9,10,11,12}, float[3,2] w = {1,-2,3,-4,5,-6}, ";
  const std::string turned = "float[4,3] s = {1,2,3,4,5,6,7,8,9,10,11,12}, float[2,3] t = {1,-2,3,-4,5,-6}";
  for (const char* const nodes : {
           "p = Gemm(x, v, b) q = Gemm(x, w, c)",
           "p = Gemm<alpha = 0.5, transB = 1>(x, s) q = Gemm<alpha = 0.5, transB = 1>(x, t)",
           "i = Gemm(x, v, b) p = Cast<to = 1>(i) j = Gemm(x, w, c) q = Cast<to = 1>(j)",
       }) {
    EXPECT_EQ(products_after_joining(matrices_model(weights + turned, nodes)), 1U) << nodes;
  }
  for (const char* const nodes : {
           "p = Gemm(x, v, b) q = Gemm<alpha = 0.5>(x, w, c)",
           "p = Gemm(x, v, b) q = Gemm(x, w)",
           "p = Gemm<transB = 1>(x, s, b) q = Gemm(x, w, c)",
           "p = Gemm(x, v) q = MatMul(x, w)",
       }) {
    EXPECT_EQ(products_after_joining(matrices_model(weights + turned, nodes)), 2U) << nodes;
  }
}

TEST(JoinProducts, OfCodesWithTheirScales) {
  const std::string by_column =
      "int8[3,4] v = {1,2,3,4,5,6,7,8,9,10,11,12}, int8[3,2] w = {1,-2,3,-4,5,-6}, float[4] s = {1,2,3,4}, "
      "float[2] t = {0.5,1}, int8[4] f = {1,0,-1,2}, int8[2] g = {3,4}, float one = {2}";
  const std::string by_block =
      "int4[3,4] v = {1,2,3,4,5,6,7,-8,-7,-6,-5,-4}, int4[3,2] w = {1,-2,3,-4,5,-6}, "
      "float[2,4] s = {1,2,3,4,5,6,7,8}, float[2,2] t = {0.5,1,2,4}";
  const std::string dequantized =
      "m = DequantizeLinear<axis = 0, block_size = 2>(v, s) "
      "n = DequantizeLinear<axis = 0, block_size = 2>(w, t) ";
  const std::string product = "p = MatMul(x, m) q = MatMul(x, n)";
  EXPECT_EQ(products_after_joining(matrices_model(by_block, dequantized + product)), 1U);
  EXPECT_EQ(
      products_after_joining(matrices_model(
          by_column, "m = DequantizeLinear<axis = 1>(v, s, f) n = DequantizeLinear<axis = 1>(w, t, g) " + product)),
      1U);
  // codes that become numbers before the data is there
  EXPECT_EQ(
      products_after_joining(matrices_model(by_block, dequantized + "a = Exp(x) p = MatMul(a, m) q = MatMul(a, n)")),
      1U);
  // one scale for all columns, which differs
  EXPECT_EQ(products_after_joining(
                matrices_model(by_column, "m = DequantizeLinear(v, one) n = DequantizeLinear(w, one) " + product)),
            2U);
}

TEST(JoinProducts, OfPackedCodes) {
  const std::string codes =
      "uint8[4,1,8] v = {1,35,69,103,137,171,205,239,16,50,84,118,152,186,220,254,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
      "16}, uint8[2,1,8] w = {17,34,51,68,85,102,119,136,153,170,187,204,221,238,255,1}, float[4] s = {1,2,3,4}, "
      "float[2] t = {0.5,1}, uint8[4] f = {7,8,9,10}, uint8[2] g = {1,2}";
  const auto nodes = [](const char* more, const char* others, int64_t other_level = 0) {
    return fmt::format(
        "p = com.microsoft.MatMulNBits<K = 3, N = 4, bits = 4, block_size = 16, accuracy_level = 0>(x, v, s{}) "
        "q = com.microsoft.MatMulNBits<K = 3, N = 2, bits = 4, block_size = 16, accuracy_level = {}>(x, w, t{})",
        more, other_level, others);
  };
  for (const auto& [more, others] : {std::pair("", ""), std::pair(", f", ", g"), std::pair(", f, , b", ", g, , c")}) {
    EXPECT_EQ(products_after_joining(matrices_model(codes, nodes(more, others))), 1U) << more;
  }
  EXPECT_EQ(products_after_joining(matrices_model(codes, nodes(", f", ""))), 2U);
  EXPECT_EQ(products_after_joining(matrices_model(codes, nodes("", "", 4))), 2U);
}

std::string drawn_weights(const std::string& declared, size_t count) {
  std::string text = declared + " = {";
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{:.3f}", i == 0 ? "" : ",", joined_sine(i));
  return text + "}";
}

// Queries of two heads, and keys and values of one, in whichever order they are made.
std::string attention_model(const std::string& products) {
  return "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> g (float[1,1,3] x, float[1,1,4,8] pk, "
         "float[1,1,4,8] pv) => (float[1,1,16] y, float[1,1,5,8] nk, float[1,1,5,8] nv) <" +
         drawn_weights("float[3,16] u", 48) + ", " + drawn_weights("float[3,8] w", 24) + ", " +
         drawn_weights("float[3,8] t", 24) + ", int32[1] last = {4}, int32 all = {5}> { " + products +
         " y, nk, nv = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, last, all) "
         "}";
}

TEST(JoinProducts, OfAnAttentionThatReadsThemSideBySide) {
  EXPECT_EQ(products_after_joining(attention_model("q = MatMul(x, u) k = MatMul(x, w) v = MatMul(x, t)")), 1U);
  EXPECT_EQ(products_after_joining(attention_model("v = MatMul(x, t) k = MatMul(x, w) q = MatMul(x, u)")), 1U);
  EXPECT_EQ(products_after_joining(attention_model("q = MatMul(x, u) k = MatMul(x, w) m = MatMul(x, t) v = Exp(m)")),
            3U);
}

TEST(JoinProducts, OnlyWherePartsOfRowsServe) {
  for (const char* const nodes : {
           // another value, a bias of one only, a bias that is no row
           "n = Neg(x) p = MatMul(n, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)",
           "p = MatMul(x, v) r = Add(p, b) y = Reshape(r, four) q = MatMul(x, w) z = Reshape(q, two)",
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) s = Add(q, d) z = Reshape(s, two)",
           // rows that are used whole, or cut elsewhere
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) n = Relu(q) z = Reshape(n, two)",
           "p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, across)",
       }) {
    EXPECT_EQ(products_after_joining(joined_model(nodes)), 2U) << nodes;
  }
  // what is an output, too
  EXPECT_EQ(
      products_after_joining(joined_model("p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)",
                                          "float[1,2,2,2] y, float[1,2,1,2] z, float[1,2,2] q")),
      2U);
}

class CountedStorage final : public tensor::Storage {
 public:
  uint64_t size_bytes() const override { return elements_.size() * sizeof(float); }
  tensor::Bytes bytes() const override { return std::as_bytes(std::span(elements_)); }
  void release() const override { ++released; }
  mutable int released = 0;

 private:
  std::array<float, 12> elements_ = {};
};

TEST(JoinProducts, PartsNeedNoMemoryOnceTheyAreSideBySide) {
  ir::Model model = testing_support::parsed(
      joined_model("p = MatMul(x, v) y = Reshape(p, four) q = MatMul(x, w) z = Reshape(q, two)"));
  const auto part = std::make_shared<const CountedStorage>();
  const ir::ValueId v = model[model.main_graph()].initializers[0];
  ir::Edit(model).set_tensor(model[v].constant, {tensor::DType::float32, {3, 4}, part});
  ir::Rewriter rewriter(model);
  join_products(model, rewriter, LoweringRules());
  EXPECT_EQ(part->released, 0);
  for (const ir::ValueId value : model[model.main_graph()].initializers) {
    const tensor::Tensor& tensor = model[model[value].constant].tensor;
    if (tensor.shape() == tensor::Shape{3, 6}) static_cast<void>(tensor.bytes());
  }
  EXPECT_EQ(part->released, 1);
}

}  // namespace
}  // namespace assay::engine
