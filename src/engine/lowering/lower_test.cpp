#include "engine/lowering/lower.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "ops/interpreter.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using testing_support::parsed;
using testing_support::value_named;

constexpr const char* kLowered[] = {
    "g (float[1,2,5,5] x) => (float[1,3,5,5] y) <float[3,2,3,3] w = "
    "{1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,"
    "9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}, float[3] s = {1,2,3}, float[3] b = {3,2,1}, float[3] m "
    "= "
    "{0.1,0.2,0.3}, float[3] v = {1,4,9}> { c = Conv<pads = [1,1,1,1]>(x, w) n = BatchNormalization(c, s, b, m, v) r = "
    "Relu(n) q = Sigmoid(r) y = Mul(r, q) }",
    "g (float[4,6] x) => (float[4,6] y, float[4,6] z) <float[6] s = {1,2,3,4,5,6}, float[6] b = {6,5,4,3,2,1}, float "
    "two = "
    "{2}, float e = {0.001}> { m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) p = Pow(d, two) v = ReduceMean<axes = "
    "[-1]>(p) "
    "a = Add(v, e) r = Sqrt(a) n = Div(d, r) t = Mul(n, s) y = Add(t, b) z = Neg(y) }",
    "g (float[3,4] x, bool c) => (float[3,4] y) { h = Tanh(x) k = Abs(h) y = If(c) <then_branch = a () => (float[3,4] "
    "p) { "
    "p = Add(k, x) }, else_branch = b () => (float[3,4] q) { q = Sub(k, x) }> }",
    "g (float[2,3,4] q, float[2,4,5] k, float[2,5,4] v, float[3,5] m) => (float[3,2,4] y) <float n = {2}> { s = "
    "MatMul(q, k) t = Div(s, n) u = Add(t, m) p = Softmax(u) o = MatMul(p, v) y = Transpose<perm = [1,0,2]>(o) }",
    "g (float[2,3] x) => (float[2,2] y) <int8[2,3] c = {1,-2,3,-4,5,-6}, float[2] s = {0.5,0.25}> { w = "
    "DequantizeLinear<axis = 0>(c, s) t = Transpose(w) p = MatMul(x, t) y = Relu(p) }",
    "g (float[4,6] x) => (float[4,6] y, float[4,6] z) <float[6] s = {1,2,3,4,5,6}, float two = {2}, float e = {0.001}> "
    "{ p = Pow(x, two) v = ReduceMean<axes = [-1]>(p) a = Add(v, e) r = Sqrt(a) i = Reciprocal(r) n = Mul(x, i) "
    "y = Mul(n, s) q = Mul(y, y) w = ReduceMean<axes = [-1]>(q) b = Add(e, w) t = Sqrt(b) z = Div(y, t) }",
    "g (float[2,8] x, float[2,4] c) => (float[2,4] h, float[2,4] d) { a, b = Split<axis = 1>(x) i = Sigmoid(a) "
    "f = Tanh(b) k = Abs(f) p = Mul(i, c) q = Mul(i, k) d = Add(p, q) t = Tanh(d) s = Neg(c) r = Exp(s) h = Mul(t, r) "
    "}",
    "g (float[1,2,4,4] x, float[3,4] a) => (uint8[1,2,4,4] y, uint8[3,2] z, int32[3,2] n) <float s = {0.1}, uint8 k = "
    "{120}, uint8[2,2,1,1] w = {90,100,110,130}, float[2] t = {0.1,0.2}, uint8[2] p = {100,120}, float r = {0.3}, "
    "int32[2] b = {40,-70}, uint8[4,2] v = {1,2,3,4,5,6,7,100}, float u = {0.01}, uint8 o = {4}> { "
    "c = QuantizeLinear(x, s, k) y = QLinearConv(c, s, k, w, t, p, r, k, b) d = QuantizeLinear(a, s, k) "
    "z = QLinearMatMul(d, s, k, v, u, o, r, k) n = MatMulInteger(d, v, k, o) }",
    "g (float16[2,3] x, float16[2,3] z) => (float16[3,2] y, float16[2,3] u) { t = Transpose(z) m = Max(x, z) n = "
    "Neg(m) "
    "q = SequenceConstruct(n, x) zero = Constant<value = int64 {0}>() u = SequenceAt(q, zero) w = Transpose(n) "
    "r = Relu(w) y = Min(r, t) }",
    "g (float[2,3,2,4] q, float[2,3,5,4] pk, float[2,3,1,4] nk, float[2,3,5,4] pv, float[2,3,1,4] nv) => "
    "(float[2,3,2,4] y, float[2,3,6,4] k, float[2,3,6,4] w) { k = Concat<axis = 2>(pk, nk) "
    "v = Concat<axis = 2>(pv, nv) t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) "
    "w = Neg(v) }",
    "g (float[2,3,2,4] q, float[2,3,4,5] pk, float[2,3,4,1] nk, float[2,3,5,4] pv, float[2,3,1,4] nv) => "
    "(float[2,3,2,4] y, float[2,3,6,4] w) { k = Concat<axis = 3>(pk, nk) v = Concat<axis = 2>(pv, nv) w = Neg(v) "
    "s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }",
    // Quantisers around all that only moves elements.
    "g (uint8[1,3,2,4] a, uint8[1,5,2,4] b, uint8[1,5,2,4] c, float[1,1,1,5] m) => (uint8[1,3,8] y) "
    "<float e = {0.0317}, uint8 z = {129}, float w = {0.0039}, uint8 o = {0}, float n = {2}, int64[3] joined = "
    "{1,3,8}> "
    "{ d = DequantizeLinear(a, e, z) f = Transpose<perm = [0,2,1,3]>(d) g = QuantizeLinear(f, e, z) "
    "q = DequantizeLinear(g, e, z) h = DequantizeLinear(b, e, z) i = Transpose<perm = [0,2,3,1]>(h) "
    "j = QuantizeLinear(i, e, z) k = DequantizeLinear(j, e, z) l = DequantizeLinear(c, e, z) "
    "p = Transpose<perm = [0,2,1,3]>(l) r = QuantizeLinear(p, e, z) v = DequantizeLinear(r, e, z) s = MatMul(q, k) "
    "t = Div(s, n) u = Add(t, m) x = Softmax(u) xc = QuantizeLinear(x, w, o) xd = DequantizeLinear(xc, w, o) "
    "yo = MatMul(xd, v) yc = QuantizeLinear(yo, e, z) yd = DequantizeLinear(yc, e, z) "
    "yt = Transpose<perm = [0,2,1,3]>(yd) yq = QuantizeLinear(yt, e, z) yf = DequantizeLinear(yq, e, z) "
    "yr = Reshape(yf, joined) y = QuantizeLinear(yr, e, z) }",
    "g (bfloat16[1,3,4] x, bfloat16[1,2,3] z) => (float[1,6,3] y) <int64[3] s = {1,4,3}> { a = Neg(x) b = Reshape(a, "
    "s) "
    "c = Abs(z) d = Concat<axis = 1>(b, c) y = Cast<to = 1>(d) }",
    "g (float[2,3] x) => (float[2,2,2] y, float[2,2,1] z) <float[3,4] v = {1,2,3,4,5,6,7,8,9,10,11,12}, float[3,2] w = "
    "{1,-2,3,-4,5,-6}, float[4] b = {1,2,3,4}, float[2] c = {5,6}, int64[3] four = {2,2,2}, int64[3] two = {2,2,1}> { "
    "p = MatMul(x, v) q = Add(p, b) y = Reshape(q, four) r = MatMul(x, w) s = Add(c, r) z = Reshape(s, two) }",
    "g (float[1,2,3,6] x, float[3,6] c, float[3,6] s, float[3,3] d, float[3,3] q) => (float[1,2,3,7] y, float[1,2,3,6] "
    "z) { l, r = Split<axis = 3>(x) n = Neg(r) t = Concat<axis = -1>(n, l) a = Mul(x, c) b = Mul(t, s) m = Add(a, b) "
    "i = ReduceMean<axes = [3]>(x) y = Concat<axis = 3>(m, i) e = Mul(l, d) f = Mul(r, q) h = Sub(e, f) j = Mul(r, d) "
    "k = Mul(l, q) o = Add(j, k) z = Concat<axis = 3>(h, o) }",
    // Weights that int8 does not hold without zero points: in the first channel, in none, in all.
    "g (uint8[1,2,4,4] a, float[1,2,5,5] x, uint8[9,3] m) => (uint8[1,2,4,4] y, float[1,2,5,5] z, float[9,2] p) "
    "<float s = {0.1}, uint8 k = {120}, uint8[2,2,1,1] w = {0,255,110,130}, float t = {0.1}, uint8 o = {100}, "
    "uint8[2,3] v = {0,255,9,128,1,2}, float[2] u = {0.1,0.2}, uint8[2] l = {128,128}, uint8[2,2,1,1] c = "
    "{255,3,200,7}, uint8 n = {0}, float[1,2,1,1] b = {1,2}> { d = DequantizeLinear(a, s, k) "
    "e = DequantizeLinear(w, t, o) f = Conv(d, e) y = QuantizeLinear(f, s, k) i, is, iz = DynamicQuantizeLinear(x) "
    "h = ConvInteger(i, c, iz, n) j = Cast<to = 1>(h) q = Mul(j, is) z = Add(q, b) md = DequantizeLinear(m, s, k) "
    "vd = DequantizeLinear<axis = 0>(v, u, l) p = Gemm<transB = 1>(md, vd) }",
};

std::string with_header(const char* text) { return std::string("<ir_version: 8, opset_import: [\"\" : 17]> ") + text; }

std::vector<std::vector<double>> outputs_of(const ir::Model& model) {
  std::vector<ops::InputDatum> inputs;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const ir::Type& type = model[model[input].type];
    tensor::Shape shape;
    for (const ir::DimId dim : type.dims) shape.push_back(*model.dims().as_constant(dim));
    std::vector<double> numbers(*tensor::element_count(shape));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i) + 1);
    if (type.dtype == tensor::DType::boolean) numbers = {1};
    inputs.push_back({input, ops::make_rounded(type.dtype, shape, numbers)});
  }
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) wanted.push_back(use.value);
  std::map<ir::ValueId, std::vector<double>> found;
  ops::Interpreter(model, {}).run(inputs, wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
    found[value] = tensor::load_elements<double>(datum.tensor());
  });
  std::vector<std::vector<double>> outputs;
  for (const ir::ValueId value : wanted) outputs.push_back(found.at(value));
  return outputs;
}

TEST(Lower, the_model_runs_on_the_reference_after_every_step) {
  for (const char* text : kLowered) {
    const ir::Model model = parsed(with_header(text));
    const std::vector<std::vector<double>> expected = outputs_of(model);
    uint64_t steps = 1;
    for (uint64_t last = 0; last < steps; ++last) {
      ir::Model lowered = model.copy();
      ir::Rewriter rewriter(lowered, last);
      lower(lowered, rewriter);
      if (last == 0) {
        ir::Model whole = model.copy();
        ir::Rewriter all(whole);
        lower(whole, all);
        steps = all.steps().size() + 1;
        EXPECT_GT(steps, 1u);
      }
      const std::vector<std::vector<double>> seen = outputs_of(lowered);
      ASSERT_EQ(seen.size(), expected.size());
      for (size_t i = 0; i < seen.size(); ++i) {
        for (size_t k = 0; k < seen[i].size(); ++k) {
          ASSERT_NEAR(seen[i][k], expected[i][k], 1e-4 * (1 + std::fabs(expected[i][k]))) << text << " step " << last;
        }
      }
    }
  }
}

std::vector<std::string> ops_of(const ir::Model& model) {
  std::vector<std::string> ops;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) ops.emplace_back(model.text(model[node].op));
  return ops;
}

TEST(Lower, operators_form_layers) {
  const auto lowered_ops = [](const char* text) {
    ir::Model model = parsed(with_header(text));
    ir::Rewriter rewriter(model);
    lower(model, rewriter);
    return ops_of(model);
  };
  EXPECT_EQ(lowered_ops(kLowered[0]), std::vector<std::string>{"Conv_Relu_Sigmoid_Mul_0"});
  EXPECT_EQ(lowered_ops(kLowered[1]),
            (std::vector<std::string>{"ReduceMean_Sub_Pow_ReduceMean_Add_Sqrt_Div_Mul_Add_0", "Neg"}));
  EXPECT_EQ(lowered_ops(kLowered[2]), (std::vector<std::string>{"Tanh_Abs_0", "If"}));
  EXPECT_EQ(lowered_ops(kLowered[3]), std::vector<std::string>{"MatMul_Div_Add_Softmax_MatMul_Transpose_0"});
  EXPECT_EQ(lowered_ops(kLowered[4]), std::vector<std::string>{"DequantizeLinear_Transpose_MatMul_Relu_0"});
  EXPECT_EQ(lowered_ops(kLowered[5]), (std::vector<std::string>{"Pow_ReduceMean_Add_Sqrt_Reciprocal_Mul_Mul_0",
                                                                "Mul_ReduceMean_Add_Sqrt_Div_1"}));
  EXPECT_EQ(lowered_ops(kLowered[6]),
            (std::vector<std::string>{"Split", "Sigmoid_Tanh_Abs_Mul_Mul_Add_0", "Tanh_Neg_Exp_Mul_1"}));
  EXPECT_EQ(lowered_ops(kLowered[7]),
            (std::vector<std::string>{"QuantizeLinear", "DequantizeLinear_DequantizeLinear_Conv_QuantizeLinear_0",
                                      "QuantizeLinear", "DequantizeLinear", "DequantizeLinear_MatMul_QuantizeLinear_1",
                                      "MatMulInteger"}));
  // Casts from and to float16 are part of the layers between them.
  EXPECT_EQ(lowered_ops(kLowered[8]),
            (std::vector<std::string>{"Transpose", "Cast_Cast_Max_Neg_0", "Cast", "SequenceConstruct", "SequenceAt",
                                      "Transpose", "Relu_Cast_Min_Cast_1"}));
  EXPECT_EQ(lowered_ops(kLowered[12]), (std::vector<std::string>{"Neg_Cast_0", "Reshape", "Abs_Cast_1", "Concat"}));
  EXPECT_EQ(lowered_ops(kLowered[14]),
            (std::vector<std::string>{"Split", "ReduceMean", "Neg_Concat_Mul_Mul_Add_Concat_0",
                                      "Mul_Mul_Sub_Mul_Mul_Add_Concat_1"}));
}

TEST(Lower, halves_that_only_move_stay_halves) {
  ir::Model model =
      parsed(with_header("g (float16[1,4,2,2] x) => (float16[1,1,4,4] y) { y = DepthToSpace<blocksize = 2>(x) }"));
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  EXPECT_EQ(ops_of(model), std::vector<std::string>{"DepthToSpace"});
}

TEST(Lower, weights_of_any_zero_point_are_those_of_layers_of_integers) {
  ir::Model model = parsed(with_header(kLowered[15]));
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  EXPECT_EQ(ops_of(model), (std::vector<std::string>{"DequantizeLinear_DequantizeLinear_Conv_QuantizeLinear_0",
                                                     "DynamicQuantizeLinear", "ConvInteger_Cast_Mul_Add_1",
                                                     "DequantizeLinear_DequantizeLinear_Gemm_2"}));
  std::vector<std::vector<double>> zeros;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    std::vector<tensor::Tensor> codes;
    for (const ir::Use& use : model[node].operands) {
      const ir::TensorId constant = model[use.value].constant;
      if (constant.valid() && model[constant].tensor.dtype() == tensor::DType::int8)
        codes.push_back(model[constant].tensor);
    }
    if (codes.size() == 2) zeros.push_back(tensor::load_elements<double>(codes[1]));
  }
  EXPECT_EQ(zeros, (std::vector<std::vector<double>>{{-28, 0}, {-128, -73}}));
}

// Others may read the cache afterwards; what they read before the attention ends stays outside.
TEST(Lower, attention_and_the_concat_of_its_cache_form_a_layer) {
  const auto lowered = [](const char* text, const Precision& precision) {
    ir::Model model = parsed(with_header(text));
    ir::Rewriter rewriter(model);
    lower(model, rewriter, precision);
    return model;
  };
  const ir::Model model = lowered(kLowered[9], {});
  EXPECT_EQ(ops_of(model), (std::vector<std::string>{"Concat_Concat_Transpose_MatMul_Softmax_MatMul_0", "Neg"}));
  EXPECT_EQ(model[*ir::nodes(model, model.main_graph()).begin()].results.size(), 3u);
  EXPECT_EQ(ops_of(lowered(kLowered[10], {})),
            (std::vector<std::string>{"Concat", "Neg", "Concat_MatMul_Softmax_MatMul_0"}));
  EXPECT_EQ(ops_of(lowered(kLowered[9], {.bfloat16 = true})),
            (std::vector<std::string>{"Cast", "Cast", "Cast",
                                      "Cast_Concat_Cast_Concat_Cast_Transpose_MatMul_Softmax_MatMul_0", "Cast",
                                      "Neg_Cast_1"}));
}

// A permission for bfloat16 leaves operators in float32 that the device has no kernel of it for, but for Resize by
// nearest elements, which moves them.
TEST(Lower, operators_without_narrow_kernels_stay_float32) {
  const auto casts = [](const char* op, bool has_wide_kinds) {
    const std::string text = fmt::format(
        "g (float[1,2,4,4] x, float[1,8,8,2] p) => (float[1,2,8,8] y) <float[4] s = {{1,1,2,2}}> {{ y = {} }}", op);
    ir::Model model = parsed(with_header(text.c_str()));
    ir::Rewriter rewriter(model);
    lower(model, rewriter, {.bfloat16 = true, .rules = {.has_wide_kinds = has_wide_kinds}});
    std::vector<std::string> ops = ops_of(model);
    return std::ranges::count_if(ops, [](const std::string& name) { return name.find("Cast") != std::string::npos; });
  };
  for (const char* const op : {"GridSample(x, p)", "Resize<mode = \"linear\">(x, , s)"}) {
    EXPECT_GT(casts(op, false), 0) << op;
    EXPECT_EQ(casts(op, true), 0) << op;
  }
  EXPECT_GT(casts("Resize<mode = \"nearest\">(x, , s)", true), 0);
}

TEST(Lower, products_of_onnx_runtime_stay_float32_where_no_kernel_is_narrow) {
  const auto casts = [](const char* body, bool has_wide_kinds) {
    ir::Model model = parsed(std::string("<ir_version: 8, opset_import: [\"\" : 22, \"com.microsoft\" : 1]>\n") + body);
    ir::Rewriter rewriter(model);
    lower(model, rewriter, {.bfloat16 = true, .rules = {.has_wide_kinds = has_wide_kinds}});
    std::vector<std::string> ops = ops_of(model);
    return std::ranges::count_if(ops, [](const std::string& name) { return name.find("Cast") != std::string::npos; });
  };
  const char* const codes =
      "g (float[4,32] x) => (float[4,2] y) <uint8[2,1,16] w = "
      "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,1,2,3,4,5,6,7,8,9,"
      "10,11,12,13,14,15,16}, float[2] s = {0.5, 0.25}> "
      "{ y = com.microsoft.MatMulNBits<K = 32, N = 2, bits = 4, block_size = 32>(x, w, s) }";
  const char* const heads =
      "g (float[1,8,32] q, float[1,8,32] k, float[1,8,32] v) => (float[1,8,32] y) { "
      "y = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, v) }";
  EXPECT_EQ(casts(codes, true), 0);
  EXPECT_EQ(casts(codes, false), 0);  // on every device
  EXPECT_EQ(casts(heads, true), 0);
  EXPECT_GT(casts(heads, false), 0);
}

const LoweringRules kOnlyFloat32 = {.computes = {tensor::DType::float32}};

TEST(Lower, products_of_float16_are_joined_where_a_device_multiplies_it) {
  const char* const text =
      "g (float16[4,8] x, float16[8,6] w) => (float16[4,6] y) { a = MatMul(x, w) b = Relu(a) y = Neg(b) }";
  const auto lowered = [&](const LoweringRules& rules) {
    ir::Model model = parsed(with_header(text));
    ir::Rewriter rewriter(model);
    lower(model, rewriter, {.rules = rules});
    return model;
  };
  const LoweringRules halves = {.computes = {tensor::DType::float32, tensor::DType::float16}};
  EXPECT_EQ(ops_of(lowered(halves)), std::vector<std::string>{"MatMul_Relu_Neg_0"});
  EXPECT_EQ(ops_of(lowered(kOnlyFloat32)), (std::vector<std::string>{"Cast", "Cast", "MatMul_Relu_Neg_0", "Cast"}));
}

// Without instructions for bfloat16, a permission is used for weights that few rows are multiplied by, and a model of
// bfloat16 computes in float32.
TEST(Lower, where_nothing_multiplies_bfloat16_operators_are_float32) {
  const auto lowered = [](const std::string& text, const Precision& precision) {
    ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 22]> " + text);
    ir::Rewriter rewriter(model);
    lower(model, rewriter, precision);
    return model;
  };
  const std::string products =
      "g (float[2,2] x, float[9,2] z) => (float[2,2] y, float[9,2] k) <float[2,2] w = {1.01, -3.3e38, 0.3, 3.4e38}> { "
      "y = MatMul(x, w) k = MatMul(z, w) }";
  const Precision permitted = {.bfloat16 = true, .rules = kOnlyFloat32};
  const ir::Model model = lowered(products, permitted);
  EXPECT_EQ(ops_of(model), (std::vector<std::string>{"MatMul", "MatMul"}));
  std::vector<std::vector<double>> weights;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    const ir::TensorId constant = model[model[node].operands[1].value].constant;
    weights.push_back(tensor::load_elements<double>(model[constant].tensor));
  }
  EXPECT_EQ(weights[0], (std::vector<double>{1.0078125, -0x1.f0p127, 0.30078125, 0x1.fep127}));
  EXPECT_EQ(weights[1][0], double{1.01F});
  Precision kept = permitted;
  kept.float32_layers = {"y"};
  EXPECT_EQ(outputs_of(lowered(products, kept)), outputs_of(lowered(products, {})));
  const char* const of_bfloat16 = "g (bfloat16[2,3] x) => (bfloat16[2,3] y) { a = Exp(x) b = Neg(a) y = Sigmoid(b) }";
  EXPECT_EQ(ops_of(lowered(of_bfloat16, {.rules = kOnlyFloat32})),
            (std::vector<std::string>{"Cast_Exp_Neg_Sigmoid_Cast_0"}));
}

// The reference says what is wrong: nothing else looks at operands that are not there.
TEST(Lower, nodes_with_missing_operands_or_attributes_of_other_types_stay) {
  for (const char* const text :
       {"g (float[1,2] x) => (float[1,2] y) { y = MatMul(x) }",
        "g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1,2,3,4}> { y = Gemm<transA = \"yes\">(x, w) }"}) {
    ir::Model model = parsed(with_header(text));
    ops::Inference inference(model);
    inference.run();
    EXPECT_EQ(broken_nodes(model, inference).size(), 1U) << text;
    ir::Rewriter rewriter(model);
    lower(model, rewriter, {.bfloat16 = true, .rules = kOnlyFloat32});
    EXPECT_TRUE(rewriter.steps().empty()) << text;
  }
}

// Nor are constants read that are of other types than their operator takes, wherever the node stands.
TEST(Lower, models_with_operands_of_other_types_stay) {
  for (const char* const text :
       {"g (float[2,2] x) => (float[2,4] y) <int32[4] p = {0,1,0,1}> { y = Pad(x, p) }",
        "g (float[2,2] x, bool c) => (float[a,b] y) <int32[4] p = {0,1,0,1}> { y = If (c) <then_branch = t () => "
        "(float[a,b] u) { u = Pad(x, p) }, else_branch = e () => (float[a,b] v) { v = Neg(x) }> }"}) {
    ir::Model model = parsed(with_header(text));
    ir::Rewriter rewriter(model);
    lower(model, rewriter);
    EXPECT_TRUE(rewriter.steps().empty()) << text;
  }
}

// Branches for other shapes than those that come never run.
TEST(Lower, shapes_that_do_not_fit_in_a_branch_do_not_matter) {
  ir::Model model = parsed(with_header(
      "g (float[2,2] x, bool c) => (float[a,b] y) { w = Exp(x) z = Sigmoid(w) y = If (c) <then_branch = t () => "
      "(float[a,b] u) { u = Transpose<perm = [0,2,1]>(z) }, else_branch = e () => (float[a,b] v) { v = Neg(z) }> }"));
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  EXPECT_FALSE(rewriter.steps().empty());
}

// What moves codes, and what makes the same ones again, is no part of it.
TEST(Lower, attention_between_quantizers_forms_a_layer) {
  const ir::Model model = parsed(with_header(kLowered[11]));
  ir::Model lowered = model.copy();
  ir::Rewriter rewriter(lowered);
  lower(lowered, rewriter);
  EXPECT_EQ(ops_of(lowered),
            (std::vector<std::string>{"Transpose", "Transpose", "Transpose",
                                      "DequantizeLinear_DequantizeLinear_DequantizeLinear_MatMul_Div_Add_Softmax_"
                                      "QuantizeLinear_DequantizeLinear_MatMul_QuantizeLinear_Transpose_0",
                                      "Reshape", "DequantizeLinear_QuantizeLinear_1"}));  // of a name of its own
  for (const char* const inside : {"s", "x", "yo"})
    EXPECT_FALSE(lowered[lowered.origins().current(value_named(model, inside))].alive) << inside;
}

TEST(Lower, layers_hold_no_more_values_than_kernels) {
  std::string text = "g (float[4] x) => (float[4] y) { v0 = Tanh(x) ";
  for (int i = 1; i < 30; ++i) text += fmt::format("v{} = {}(v{}) ", i, i % 2 == 0 ? "Tanh" : "Abs", i - 1);
  ir::Model model = parsed(with_header((text + "y = Neg(v29) }").c_str()));
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  const std::vector<std::string> ops = ops_of(model);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(std::ranges::count(ops[0], '_'), 22);  // as many values less one
}

TEST(Lower, results_may_be_omitted) {
  ir::Model model = parsed(
      with_header("g (float[1,3,2] x, float[1,15,2] w, float[1,15,5] r) => (float[1,1,5] y) { , y = GRU<hidden_size "
                  "= 5>(x, w, r) }"));
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  EXPECT_EQ(ops_of(model), std::vector<std::string>{"GRU"});
}

TEST(Lower, a_layer_stands_for_the_nodes_it_was_made_of) {
  const ir::Model model = parsed(with_header(kLowered[2]));
  ir::Model lowered = model.copy();
  ir::Rewriter rewriter(lowered);
  lower(lowered, rewriter);
  const ir::NodeId layer = *ir::nodes(lowered, lowered.main_graph()).begin();
  std::vector<std::string> origins;
  for (const ir::NodeId node : lowered.origins().of(layer)) origins.emplace_back(model.text(model[node].op));
  EXPECT_EQ(origins, (std::vector<std::string>{"Tanh", "Abs"}));
  EXPECT_FALSE(lowered[lowered.origins().current(value_named(model, "h"))].alive);
  EXPECT_TRUE(lowered[lowered.origins().current(value_named(model, "k"))].alive);
}

// ONNX Runtime's quantiser writes a bias that an Identity hands on in two pairs of quantisers.
TEST(Lower, ConstantsThatAreQuantisedTwiceAreConstants) {
  const ir::Model model = testing_support::parsed(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (uint8[20,4] x) => (uint8[20,2] y) <int8[4,2] w = "
      "{1,-2,3,4,5,-6,7,8}, uint8[2] b = {7,90}, float s = {0.05}, float t = {0.1}, uint8 z = {3}, int8 n = {0}, float "
      "root = {1.4142135}> { d = DequantizeLinear(x, s, z) v = DequantizeLinear(w, t, n) p = MatMul(d, v) e = "
      "DequantizeLinear(b, s, z) i = Identity(e) q = QuantizeLinear(i, t, z) c = DequantizeLinear(q, t, z) a = Add(c, "
      "p) "
      "r = QuantizeLinear(a, t, z) f = DequantizeLinear(r, t, z) h = Div(f, root) k = Erf(h) y = QuantizeLinear(k, s, "
      "z) "
      "}");
  const auto code = [](size_t i) { return static_cast<double>(i * 37 % 200); };
  const testing_support::EngineRun run = testing_support::run_on_engine(model, code);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"product.codes"});
  EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, code), 0), "");
}

// Merged into one Gemm with what is added, the weights have no layer that keeps them compressed.
TEST(Lower, WeightsAreDequantisedOnce) {
  const ir::Model model = testing_support::parsed(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[3,4] x, float[3,2] a) => (float[3,2] y) <int8[4,2] w = "
      "{1,-2,3,4,5,-6,7,8}, float[2] t = {0.1,0.3}> { v = DequantizeLinear<axis = 1>(w, t) p = MatMul(x, v) y = Add(p, "
      "a) "
      "}");
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"product.tiles"});
  EXPECT_EQ(
      testing_support::difference(run.outputs, testing_support::run_on_reference(model, testing_support::sine), 1e-6),
      "");
}

}  // namespace
}  // namespace assay::engine
