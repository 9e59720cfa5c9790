#include "engine/lowering/spell_integers.h"

#include <algorithm>
#include <array>

#include "engine/lowering/code_spelling.h"
#include "passes/pipelines.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using tensor::DType;

// The operands and the result of QLinearConv and QLinearMatMul have the same places.
void spell(CodeSpelling& context, NodeId node, std::string_view op, size_t axis) {
  const std::optional<Codes> left = context.codes(node, 0);
  const std::optional<Codes> right = context.codes(node, 3);
  const std::optional<Codes> to = context.quantizer(node, 6);
  if (!left || !left->have_one_scale() || !right || !to) return;
  const ir::ValueId bias = ir::operand(context.model(), node, 8);
  const std::vector<double> sums = context.numbers(bias);
  if (bias && sums.empty()) return;
  ir::Patch patch;
  const std::optional<PatchValue> weights = context.dequantize_right(patch, *right, axis);
  if (!weights) return;
  std::vector<PatchValue> operands = {CodeSpelling::dequantize(patch, *left), *weights};
  if (bias) operands.push_back(patch.add_constant(bias_of(sums, *left, *right)));
  const auto& attributes = context.model()[node].attributes;
  const PatchValue product = patch.add({.op = op,
                                        .name = context.model()[node].name,
                                        .operands = std::move(operands),
                                        .attributes = {attributes.begin(), attributes.end()}});
  patch.replace(ir::result(context.model(), node), CodeSpelling::quantize(patch, product, *to));
  patch.remove(node);
  context.run.rewriter().commit("{0} as what its codes stand for", patch);
}

// Centers the weights of MatMulInteger and ConvInteger.
void center_weights(CodeSpelling& context, NodeId node, size_t axis) {
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
std::optional<size_t> axis_in_products(CodeSpelling& context, ir::ValueId value) {
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

void center_dequantized(CodeSpelling& context, NodeId node) {
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
  std::optional<CenteredWeights> made = center(*weights, *zeros, *axis, context.has_scales_by_axis());
  if (!made || !(made->is_changed || (made->zeros.empty() && ir::operand(context.model(), node, 2)))) return;
  ir::Patch patch;
  const PatchValue floats = context.dequantize(patch, *std::move(made), scales, *axis);
  patch.replace(ir::result(context.model(), node), floats);
  patch.remove(node);
  context.run.rewriter().commit("weights of {0} less their zero points", patch);
}

constexpr std::array<passes::Rule<CodeSpelling>, 5> kRules = {{
    {"QLinearConv", [](CodeSpelling& context, NodeId node) { spell(context, node, "Conv", 0); }},
    {"QLinearMatMul", [](CodeSpelling& context, NodeId node) { spell(context, node, "MatMul", 1); }},
    {"MatMulInteger", [](CodeSpelling& context, NodeId node) { center_weights(context, node, 1); }},
    {"ConvInteger", [](CodeSpelling& context, NodeId node) { center_weights(context, node, 0); }},
    {"DequantizeLinear", center_dequantized},
}};

}  // namespace

void spell_integers(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> spell = {{{.name = "spell-integers",
                                               .summary = "products of integers as products of what they stand for",
                                               .pass_class = passes::PassClass::rounding,
                                               .run = [](passes::PassRun& run) {
                                                 CodeSpelling context{run};
                                                 passes::apply_rules(run, context, kRules);
                                               }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(spell);
}

}  // namespace assay::engine
