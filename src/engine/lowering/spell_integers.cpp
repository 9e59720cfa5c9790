#include "engine/lowering/spell_integers.h"

#include <algorithm>
#include <array>

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

// Weights less their zero points, of which there is one, or one for each index of an axis; nullopt: some do not fit.
std::optional<tensor::Tensor> centered(const tensor::Tensor& weights, const std::vector<double>& zeros, size_t axis) {
  const tensor::Shape& dims = weights.shape();
  if (axis >= dims.size() || (zeros.size() != 1 && zeros.size() != static_cast<size_t>(dims[axis]))) return {};
  size_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
  std::vector<double> numbers = tensor::load_elements<double>(weights);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] -= zeros[zeros.size() == 1 ? 0 : i / inner % zeros.size()];
    if (numbers[i] < -128 || numbers[i] > 127) return {};
  }
  return integers<int8_t>(DType::int8, dims, numbers);
}

PatchValue dequantize(ir::Patch& patch, const Codes& codes) {
  const PatchValue scale = patch.add_constant(floats(codes.scales, {}));
  const PatchValue zero = patch.add_constant(zero_of(codes.dtype, codes.zeros[0]));
  return patch.add({.op = "DequantizeLinear", .operands = {codes.value, scale, zero}});
}

// Constant weights that int8 without zero points can hold.
std::optional<PatchValue> dequantized_weights(Context& context, ir::Patch& patch, const Codes& codes, size_t axis) {
  const tensor::Tensor* const constant = context.run.constant(codes.value);
  if (constant == nullptr) return {};
  std::optional<tensor::Tensor> weights = centered(*constant, codes.zeros, axis);
  if (!weights) return {};
  const bool is_by_axis = codes.scales.size() > 1;
  const int64_t version = schema::imported_version(context.model());
  if (is_by_axis && version < kFirstScalesByAxis) return {};
  if (is_by_axis && codes.scales.size() != static_cast<size_t>(weights->shape()[axis])) return {};
  std::vector<ir::Attribute> attributes;
  if (is_by_axis) {
    attributes.push_back(ir::Attribute::of(context.run.edit().intern("axis"), static_cast<int64_t>(axis)));
  }
  const PatchValue scale = patch.add_constant(is_by_axis ? float_list(codes.scales) : floats(codes.scales, {}));
  return patch.add({.op = "DequantizeLinear",
                    .operands = {patch.add_constant(std::move(*weights)), scale},
                    .attributes = std::move(attributes)});
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
  const std::vector<double> zeros = context.numbers(ir::operand(model, node, 3));
  if (weights == nullptr || zeros.empty() || tensor::bit_width(weights->dtype()) != 8) return;
  std::optional<tensor::Tensor> made = centered(*weights, zeros, axis);
  if (!made) return;
  ir::Patch patch;
  std::vector<PatchValue> operands = {ir::operand(model, node, 0), patch.add_constant(std::move(*made)),
                                      ir::operand(model, node, 2)};
  const auto& attributes = model[node].attributes;
  const PatchValue product = patch.add({.op = model.text(model[node].op),
                                        .name = model[node].name,
                                        .operands = std::move(operands),
                                        .attributes = {attributes.begin(), attributes.end()}});
  patch.replace(ir::result(model, node), product);
  patch.remove(node);
  context.run.rewriter().commit("weights of {0} less their zero points", patch);
}

constexpr std::array<passes::Rule<Context>, 4> kRules = {{
    {"QLinearConv", [](Context& context, NodeId node) { spell(context, node, "Conv", 0); }},
    {"QLinearMatMul", [](Context& context, NodeId node) { spell(context, node, "MatMul", 1); }},
    {"MatMulInteger", [](Context& context, NodeId node) { center_weights(context, node, 1); }},
    {"ConvInteger", [](Context& context, NodeId node) { center_weights(context, node, 0); }},
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
