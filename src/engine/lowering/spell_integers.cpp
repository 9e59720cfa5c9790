#include "engine/lowering/spell_integers.h"

#include <algorithm>
#include <array>

#include "engine/lowering/centered_weights.h"
#include "ir/queries.h"
#include "passes/pipelines.h"
#include "passes/rules.h"
#include "schema/imports.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using tensor::DType;

constexpr int64_t kFirstScalesByAxis = 13;  // of DequantizeLinear

// A tensor of 8-bit integers with what they stand for, of which all is constant but perhaps the codes.
struct Codes {
  ir::ValueId value;
  DType dtype = DType::undefined;
  std::vector<double> scales;
  std::vector<double> zeros;
};

struct Context {
  passes::PassRun& run;

  const ir::Model& model() const { return run.model(); }

  DType dtype_of(ir::ValueId value) {
    const tensor::Tensor* const constant = value ? run.constant(value) : nullptr;
    return constant == nullptr ? run.type(value).dtype : constant->dtype();
  }

  std::vector<double> numbers(ir::ValueId value) {
    const tensor::Tensor* const constant = value ? run.constant(value) : nullptr;
    return constant == nullptr ? std::vector<double>() : tensor::load_elements<double>(*constant);
  }

  // Zero points, which are 0 where they are left out; nullopt: they are computed.
  std::optional<std::vector<double>> zeros(ir::ValueId value) {
    std::vector<double> found = value ? numbers(value) : std::vector<double>{0};
    return found.empty() ? std::nullopt : std::optional(std::move(found));
  }

  // nullopt: something else.
  std::optional<Codes> codes(NodeId node, uint32_t first) {
    const ir::ValueId value = ir::operand(model(), node, first);
    const ir::ValueId scale = ir::operand(model(), node, first + 1);
    Codes found{value, dtype_of(value), numbers(scale), numbers(ir::operand(model(), node, first + 2))};
    const bool is_code = found.dtype == DType::int8 || found.dtype == DType::uint8;
    if (!is_code || dtype_of(scale) != DType::float32) return std::nullopt;
    if (found.scales.empty() || found.zeros.empty()) return std::nullopt;
    return found;
  }
};

tensor::Tensor floats(const std::vector<double>& numbers, const tensor::Shape& shape) {
  const std::vector<float> elements(numbers.begin(), numbers.end());
  return tensor::make_tensor<float>(DType::float32, shape, elements);
}

tensor::Tensor float_list(const std::vector<double>& numbers) {
  return floats(numbers, {static_cast<int64_t>(numbers.size())});
}

template <typename Code>
tensor::Tensor integers(DType dtype, const tensor::Shape& shape, const std::vector<double>& numbers) {
  std::vector<Code> elements;
  for (const double number : numbers) elements.push_back(static_cast<Code>(static_cast<int64_t>(number)));
  return tensor::make_tensor<Code>(dtype, shape, elements);
}

tensor::Tensor zero_of(DType dtype, double zero) {
  return dtype == DType::int8 ? integers<int8_t>(dtype, {}, {zero}) : integers<uint8_t>(dtype, {}, {zero});
}

tensor::Tensor zero_list(const std::vector<int>& zeros) {
  const std::vector<double> numbers(zeros.begin(), zeros.end());
  const tensor::Shape shape = zeros.size() == 1 ? tensor::Shape() : tensor::Shape{static_cast<int64_t>(zeros.size())};
  return integers<int8_t>(DType::int8, shape, numbers);
}

PatchValue dequantize(ir::Patch& patch, const Codes& codes) {
  const PatchValue scale = patch.add_constant(floats(codes.scales, {}));
  const PatchValue zero = patch.add_constant(zero_of(codes.dtype, codes.zeros[0]));
  return patch.add({.op = "DequantizeLinear", .operands = {codes.value, scale, zero}});
}

// What centered weights stand for; of scales there is one, or one for each index of the axis.
PatchValue dequantize(Context& context, ir::Patch& patch, CenteredWeights centered, std::vector<double> scales,
                      size_t axis) {
  const size_t count = std::max(scales.size(), centered.zeros.size());
  scales.resize(count, scales[0]);
  std::vector<ir::Attribute> attributes;
  if (count > 1) {
    attributes.push_back(ir::Attribute::of(context.run.edit().intern("axis"), static_cast<int64_t>(axis)));
    if (!centered.zeros.empty()) centered.zeros.resize(count, centered.zeros[0]);
  }
  const PatchValue weights = patch.add_constant(std::move(centered.weights));
  std::vector<PatchValue> operands = {weights, patch.add_constant(count > 1 ? float_list(scales) : floats(scales, {}))};
  if (!centered.zeros.empty()) operands.push_back(patch.add_constant(zero_list(centered.zeros)));
  return patch.add({.op = "DequantizeLinear", .operands = std::move(operands), .attributes = std::move(attributes)});
}

bool has_scales_by_axis(Context& context) { return schema::imported_version(context.model()) >= kFirstScalesByAxis; }

// Constant weights as int8.
std::optional<PatchValue> dequantized_weights(Context& context, ir::Patch& patch, const Codes& codes, size_t axis) {
  const tensor::Tensor* const constant = context.run.constant(codes.value);
  if (constant == nullptr) return {};
  std::optional<CenteredWeights> made = center(*constant, codes.zeros, axis, has_scales_by_axis(context));
  if (!made) return {};
  const bool is_by_axis = codes.scales.size() > 1;
  if ((is_by_axis || made->zeros.size() > 1) && !has_scales_by_axis(context)) return {};
  if (is_by_axis && codes.scales.size() != static_cast<size_t>(constant->shape()[axis])) return {};
  return dequantize(context, patch, *std::move(made), codes.scales, axis);
}

// The right operand of a product, of which the axis is that of the result's channels or columns.
std::optional<PatchValue> dequantized_right(Context& context, ir::Patch& patch, const Codes& codes, size_t axis) {
  std::optional<PatchValue> weights = dequantized_weights(context, patch, codes, axis);
  if (weights) return weights;
  return codes.scales.size() == 1 && codes.zeros.size() == 1 ? std::optional(dequantize(patch, codes)) : std::nullopt;
}

// Of integers in units of the product's sums, as floats.
std::vector<double> bias_of(const std::vector<double>& sums, const Codes& left, const Codes& right) {
  std::vector<double> bias = sums;
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] *= left.scales[0] * right.scales[right.scales.size() == 1 ? 0 : i];
  }
  return bias;
}

// The operands and the result of QLinearConv and QLinearMatMul have the same places.
void spell(Context& context, NodeId node, std::string_view op, size_t axis) {
  const std::optional<Codes> left = context.codes(node, 0);
  const std::optional<Codes> right = context.codes(node, 3);
  const std::vector<double> scale = context.numbers(ir::operand(context.model(), node, 6));
  const std::vector<double> zero = context.numbers(ir::operand(context.model(), node, 7));
  const DType codes = context.dtype_of(ir::operand(context.model(), node, 7));
  if (!left || left->scales.size() != 1 || left->zeros.size() != 1 || !right) return;
  if (scale.size() != 1 || zero.size() != 1 || (codes != DType::int8 && codes != DType::uint8)) return;
  const ir::ValueId sums = ir::operand(context.model(), node, 8);
  const std::vector<double> bias = bias_of(context.numbers(sums), *left, *right);
  if (sums && bias.empty()) return;
  ir::Patch patch;
  const std::optional<PatchValue> weights = dequantized_right(context, patch, *right, axis);
  if (!weights) return;
  std::vector<PatchValue> operands = {dequantize(patch, *left), *weights};
  if (sums) operands.push_back(patch.add_constant(float_list(bias)));
  const auto& attributes = context.model()[node].attributes;
  const PatchValue product = patch.add({.op = op,
                                        .name = context.model()[node].name,
                                        .operands = std::move(operands),
                                        .attributes = {attributes.begin(), attributes.end()}});
  const PatchValue made = patch.add(
      {.op = "QuantizeLinear",
       .operands = {product, patch.add_constant(floats(scale, {})), patch.add_constant(zero_of(codes, zero[0]))}});
  patch.replace(ir::result(context.model(), node), made);
  patch.remove(node);
  context.run.rewriter().commit("{0} as what its codes stand for", patch);
}

// Of MatMulInteger and ConvInteger.
void center_weights(Context& context, NodeId node, size_t axis) {
  const ir::Model& model = context.model();
  const tensor::Tensor* const weights = context.run.constant(ir::operand(model, node, 1));
  const std::optional<std::vector<double>> zeros = context.zeros(ir::operand(model, node, 3));
  if (weights == nullptr || !zeros || (axis == 1 && weights->shape().size() != 2)) return;
  std::optional<CenteredWeights> made = center(*weights, *zeros, axis, true);
  if (!made || !(made->is_changed || (made->zeros.empty() && ir::operand(model, node, 3)))) return;
  ir::Patch patch;
  std::vector<PatchValue> operands = {ir::operand(model, node, 0), patch.add_constant(std::move(made->weights)),
                                      ir::operand(model, node, 2)};
  if (!made->zeros.empty()) operands.push_back(patch.add_constant(zero_list(made->zeros)));
  const auto& attributes = model[node].attributes;
  const PatchValue product = patch.add({.op = model.text(model[node].op),
                                        .name = model[node].name,
                                        .operands = std::move(operands),
                                        .attributes = {attributes.begin(), attributes.end()}});
  patch.replace(ir::result(model, node), product);
  patch.remove(node);
  context.run.rewriter().commit("weights of {0} less their zero points", patch);
}

// The axis of result channels or columns in what a value is to the products of codes that use it; nullopt: something
// else uses it too.
std::optional<size_t> axis_in_products(Context& context, ir::ValueId value) {
  std::optional<size_t> axis;
  for (const ir::Use& use : ir::uses(context.model(), value)) {
    if (context.model()[use.user].is_outputs || use.index != 1) return {};
    const bool is_conv = context.run.is_op(use.user, "Conv");
    const bool is_gemm = !is_conv && context.run.is_op(use.user, "Gemm");
    if (!is_conv && !is_gemm && !context.run.is_op(use.user, "MatMul")) return {};
    const NodeId data = ir::producer(context.model(), ir::operand(context.model(), use.user, 0));
    if (!data || !context.run.is_op(data, "DequantizeLinear")) return {};
    if (context.run.constant(ir::operand(context.model(), data, 0)) != nullptr) return {};
    const size_t found = is_conv || (is_gemm && context.run.facts(use.user).flag("transB")) ? 0 : 1;
    if (axis && axis != found) return {};
    axis = found;
  }
  return axis;
}

void center_dequantized(Context& context, NodeId node) {
  const ir::ValueId value = ir::operand(context.model(), node, 0);
  const tensor::Tensor* const weights = context.run.constant(value);
  const std::optional<size_t> axis = axis_in_products(context, ir::result(context.model(), node));
  if (weights == nullptr || !axis || context.dtype_of(ir::operand(context.model(), node, 1)) != DType::float32) return;
  const std::vector<double> scales = context.numbers(ir::operand(context.model(), node, 1));
  const std::optional<std::vector<double>> zeros = context.zeros(ir::operand(context.model(), node, 2));
  if (!zeros || scales.empty() || (zeros->size() != 1 && zeros->size() != scales.size())) return;
  const tensor::Shape& dims = weights->shape();
  if (*axis >= dims.size() || (*axis == 1 && dims.size() != 2)) return;
  const ops::Node facts = context.run.facts(node);
  const int64_t written = ops::normalize_axis(facts.integer("axis", 1), static_cast<int64_t>(dims.size()));
  const bool is_by_axis = written == static_cast<int64_t>(*axis) && scales.size() == static_cast<size_t>(dims[*axis]);
  if ((scales.size() != 1 && !is_by_axis) || facts.integer("block_size", 0) != 0) return;
  std::optional<CenteredWeights> made = center(*weights, *zeros, *axis, has_scales_by_axis(context));
  if (!made || !(made->is_changed || (made->zeros.empty() && ir::operand(context.model(), node, 2)))) return;
  ir::Patch patch;
  const PatchValue floats = dequantize(context, patch, *std::move(made), scales, *axis);
  patch.replace(ir::result(context.model(), node), floats);
  patch.remove(node);
  context.run.rewriter().commit("weights of {0} less their zero points", patch);
}

constexpr std::array<passes::Rule<Context>, 5> kRules = {{
    {"QLinearConv", [](Context& context, NodeId node) { spell(context, node, "Conv", 0); }},
    {"QLinearMatMul", [](Context& context, NodeId node) { spell(context, node, "MatMul", 1); }},
    {"MatMulInteger", [](Context& context, NodeId node) { center_weights(context, node, 1); }},
    {"ConvInteger", [](Context& context, NodeId node) { center_weights(context, node, 0); }},
    {"DequantizeLinear", center_dequantized},
}};

}  // namespace

void spell_integers(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> spell = {{{.name = "spell-integers",
                                               .summary = "products of integers as products of what they stand for",
                                               .pass_class = passes::PassClass::rounding,
                                               .run = [](passes::PassRun& run) {
                                                 Context context{run};
                                                 passes::apply_rules(run, context, kRules);
                                               }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(spell);
}

}  // namespace assay::engine
