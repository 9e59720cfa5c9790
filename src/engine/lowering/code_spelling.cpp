#include "engine/lowering/code_spelling.h"

#include <algorithm>

#include "ir/walk.h"
#include "ops/call_rules.h"
#include "ops/operator.h"
#include "schema/imports.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using tensor::DType;

constexpr int64_t kFirstScalesByAxis = 13;  // of DequantizeLinear

bool is_code(DType dtype) { return dtype == DType::int8 || dtype == DType::uint8; }

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

}  // namespace

tensor::Tensor zero_list(const std::vector<int>& zeros) {
  const std::vector<double> numbers(zeros.begin(), zeros.end());
  const tensor::Shape shape = zeros.size() == 1 ? tensor::Shape() : tensor::Shape{static_cast<int64_t>(zeros.size())};
  return integers<int8_t>(DType::int8, shape, numbers);
}

tensor::Tensor bias_of(const std::vector<double>& sums, const Codes& left, const Codes& right) {
  std::vector<double> bias = sums;
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] *= left.scales[0] * right.scales[right.scales.size() == 1 ? 0 : i];
  }
  return float_list(bias);
}

std::vector<NodeId> microsoft_nodes(passes::PassRun& run) {
  const ir::Model& model = run.model();
  std::vector<NodeId> nodes;
  for (const NodeId node : ir::nodes(model, model.main_graph())) {
    if (model.text(model[node].domain) != ops::kMicrosoft || ir::has_references(model[node])) continue;
    const ops::Callee found = run.callee(node);
    if (found.function || !found.schema || !ir::result(model, node)) continue;
    if (ops::broken_call_rules({model, model[node], found.schema, found.version, nullptr}).empty())
      nodes.push_back(node);
  }
  return nodes;
}

DType CodeSpelling::dtype_of(ir::ValueId value) {
  const tensor::Tensor* const constant = value ? run.constant(value) : nullptr;
  return constant == nullptr ? run.type(value).dtype : constant->dtype();
}

std::vector<double> CodeSpelling::numbers(ir::ValueId value) {
  const tensor::Tensor* const constant = value ? run.constant(value) : nullptr;
  return constant == nullptr ? std::vector<double>() : tensor::load_elements<double>(*constant);
}

std::optional<std::vector<double>> CodeSpelling::zeros(ir::ValueId value) {
  std::vector<double> found = value ? numbers(value) : std::vector<double>{0};
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

std::optional<Codes> CodeSpelling::codes(NodeId node, uint32_t first) {
  const ir::ValueId value = ir::operand(model(), node, first);
  const ir::ValueId scale = ir::operand(model(), node, first + 1);
  Codes found{value, dtype_of(value), numbers(scale), numbers(ir::operand(model(), node, first + 2))};
  if (!is_code(found.dtype) || dtype_of(scale) != DType::float32) return std::nullopt;
  if (found.scales.empty() || found.zeros.empty()) return std::nullopt;
  return found;
}

std::optional<Codes> CodeSpelling::quantizer(NodeId node, uint32_t first) {
  const ir::ValueId zero = ir::operand(model(), node, first + 1);
  Codes found{{}, dtype_of(zero), numbers(ir::operand(model(), node, first)), numbers(zero)};
  return is_code(found.dtype) && found.have_one_scale() ? std::optional(std::move(found)) : std::nullopt;
}

bool CodeSpelling::has_scales_by_axis() const { return schema::imported_version(model()) >= kFirstScalesByAxis; }

PatchValue CodeSpelling::dequantize(ir::Patch& patch, const Codes& codes) {
  const PatchValue scale = patch.add_constant(floats(codes.scales, {}));
  const PatchValue zero = patch.add_constant(zero_of(codes.dtype, codes.zeros[0]));
  return patch.add({.op = "DequantizeLinear", .operands = {codes.value, scale, zero}});
}

PatchValue CodeSpelling::quantize(ir::Patch& patch, PatchValue floats_given, const Codes& to) {
  const PatchValue scale = patch.add_constant(floats(to.scales, {}));
  const PatchValue zero = patch.add_constant(zero_of(to.dtype, to.zeros[0]));
  return patch.add({.op = "QuantizeLinear", .operands = {floats_given, scale, zero}});
}

PatchValue CodeSpelling::dequantize(ir::Patch& patch, CenteredWeights centered, std::vector<double> scales,
                                    size_t axis) {
  const size_t count = std::max(scales.size(), centered.zeros.size());
  scales.resize(count, scales[0]);
  std::vector<ir::Attribute> attributes;
  if (count > 1) {
    attributes.push_back(ir::Attribute::of(run.edit().intern("axis"), static_cast<int64_t>(axis)));
    if (!centered.zeros.empty()) centered.zeros.resize(count, centered.zeros[0]);
  }
  const PatchValue weights = patch.add_constant(std::move(centered.weights));
  std::vector<PatchValue> operands = {weights, patch.add_constant(count > 1 ? float_list(scales) : floats(scales, {}))};
  if (!centered.zeros.empty()) operands.push_back(patch.add_constant(zero_list(centered.zeros)));
  return patch.add({.op = "DequantizeLinear", .operands = std::move(operands), .attributes = std::move(attributes)});
}

std::optional<PatchValue> CodeSpelling::dequantize_right(ir::Patch& patch, const Codes& codes, size_t axis) {
  const tensor::Tensor* const constant = run.constant(codes.value);
  std::optional<CenteredWeights> made;
  if (constant != nullptr) made = center(*constant, codes.zeros, axis, has_scales_by_axis());
  const bool is_by_axis = codes.scales.size() > 1;
  const bool has_axis = made && (!is_by_axis || codes.scales.size() == static_cast<size_t>(constant->shape()[axis]));
  const bool fits = has_axis && (has_scales_by_axis() || (!is_by_axis && made->zeros.size() <= 1));
  if (fits) return dequantize(patch, *std::move(made), codes.scales, axis);
  return codes.have_one_scale() ? std::optional(dequantize(patch, codes)) : std::nullopt;
}

}  // namespace assay::engine
