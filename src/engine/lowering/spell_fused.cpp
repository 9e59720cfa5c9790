#include "engine/lowering/spell_fused.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/lowering/code_spelling.h"
#include "ops/operator.h"
#include "passes/channels.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;
using tensor::DType;

constexpr int64_t kFirstVersion = 10;           // of ai.onnx, that has all operators which are written
constexpr int64_t kFirstClipOperands = 11;      // before, bounds are attributes
constexpr int64_t kFirstDynamicQuantizer = 11;  // DynamicQuantizeLinear

struct Context {
  CodeSpelling codes;
  passes::Inferred inferred;
};

// Writes one node anew.
class Speller {
 public:
  Speller(Context& context, NodeId node)
      : context_(context),
        node_(node),
        facts_(context.codes.run.facts(node)),
        version_(schema::imported_version(context.codes.model())) {}

  void convolution() { convolve("Conv", {operand(0), operand(1), operand(2)}, false); }
  void convolution_of_last() { convolve("Conv", {operand(0), operand(1), operand(2)}, true); }
  void convolution_of_codes() {
    std::vector<PatchValue> operands;
    for (uint32_t i = 0; i < std::min<uint32_t>(count(), 9); ++i) operands.push_back(operand(i));
    convolve("QLinearConv", std::move(operands), facts_.flag("channels_last"));
  }
  void pool_of_last() { convolve("MaxPool", {operand(0)}, true); }
  // Spells a pool of codes with channels in front as that of the numbers that they stand for.
  void pool_of_codes() {
    if (facts_.flag("channels_last"))
      convolve(model().text(model()[node_].op), operands(count()), true, ops::kMicrosoft);
  }

  void gemm() {
    const PatchValue sum =
        added({.op = "Gemm", .operands = operands(3), .attributes = attributes({"alpha", "beta", "transA", "transB"})});
    std::vector<double> parameters;
    for (const std::string_view name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
      if (!facts_.has_attribute(name)) break;
      parameters.push_back(facts_.floating(name));
    }
    finish(activated(sum, parameters));
  }

  void product() {
    const std::optional<PatchValue> left = turned_operand(0, "transBatchA", "transA");
    const std::optional<PatchValue> right = turned_operand(1, "transBatchB", "transB");
    if (!left || !right) return;
    const PatchValue product = applied("MatMul", {*left, *right});
    const double alpha = facts_.floating("alpha", 1);
    finish(alpha == 1 ? product : applied("Mul", {product, number(alpha)}));
  }

  void gelu() { finish(gelu_of(operand(0))); }
  void gelu_with_bias() { finish(gelu_of(applied("Add", {operand(0), operand(1)}))); }
  void fast_gelu() { finish(fast_gelu_of(biased(operand(0), 1))); }
  void product_with_fast_gelu() { finish(fast_gelu_of(biased(applied("MatMul", {operand(0), operand(1)}), 2))); }
  void quick_gelu() {
    const PatchValue x = operand(0);
    const double alpha = facts_.floating("alpha", 1.702);
    const PatchValue scaled = alpha == 1 ? x : applied("Mul", {x, number(alpha)});
    finish(applied("Mul", {x, applied("Sigmoid", {scaled})}));
  }
  void sum_with_bias() { finish(applied("Add", {applied("Add", {operand(0), operand(1)}), operand(2)})); }

  void normalization() { normalize("LayerNormalization", {operand(2), operand(3)}, 4); }
  void simplified_normalization() { normalize("SimplifiedLayerNormalization", {operand(2)}, 3); }

  // Codes with constant scales as what they stand for, others as a product of integers.
  void integer_product() {
    if (!is_float32(2) || !is_float32(3)) return;
    if (!spell_dequantized()) spell_sums({operand(0), operand(4), operand(2)}, {1, 3, 5, 6});
  }
  void dynamic_product() {
    if (version_ < kFirstDynamicQuantizer) return;
    const PatchValue codes = added({.op = "DynamicQuantizeLinear",
                                    .operands = {operand(0)},
                                    .result_types = {ir::TypeId{}, ir::TypeId{}, ir::TypeId{}}});
    spell_sums({codes, patch_.result(codes, 2), patch_.result(codes, 1)}, {1, 2, 3, 4});
  }

 private:
  const ir::Model& model() const { return context_.codes.model(); }
  uint32_t count() const { return static_cast<uint32_t>(model()[node_].operands.size()); }
  ValueId operand(uint32_t index) const { return ir::operand(model(), node_, index); }
  bool has(uint32_t index) const { return operand(index).valid(); }
  bool is_float32(uint32_t index) { return context_.codes.dtype_of(operand(index)) == DType::float32; }
  // The first ones, as far as there are any.
  std::vector<PatchValue> operands(uint32_t most) const {
    std::vector<PatchValue> found;
    for (uint32_t i = 0; i < std::min(most, count()); ++i) found.push_back(operand(i));
    return found;
  }
  std::vector<ir::Attribute> attributes(std::initializer_list<std::string_view> names) const {
    std::vector<ir::Attribute> kept;
    for (const ir::Attribute& attribute : model()[node_].attributes) {
      if (std::ranges::find(names, model().text(attribute.name())) != names.end()) kept.push_back(attribute);
    }
    return kept;
  }

  PatchValue added(ir::PatchNode made) { return patch_.add(std::move(made)); }
  PatchValue applied(std::string_view op, std::vector<PatchValue> operands) {
    return added({.op = op, .operands = std::move(operands)});
  }
  ir::Attribute attribute(std::string_view name, double value) {
    return ir::Attribute::of(context_.codes.run.edit().intern(name), static_cast<float>(value));
  }
  // One element of the type of the node's floats.
  PatchValue number(double value) {
    const DType dtype = context_.codes.dtype_of(ir::result(model(), node_));
    return patch_.add_constant(*passes::rounded(dtype, {value}));
  }
  PatchValue turned(PatchValue value, const std::vector<int64_t>& order) {
    if (std::ranges::is_sorted(order)) return value;
    const ir::Attribute perm = passes::integers_attribute(context_.codes.run, "perm", order);
    return added({.op = "Transpose", .operands = {value}, .attributes = {perm}});
  }
  PatchValue biased(PatchValue value, uint32_t bias) {
    return has(bias) ? applied("Add", {value, operand(bias)}) : value;
  }

  void finish(PatchValue made) {
    patch_.replace(ir::result(model(), node_), made);
    patch_.remove(node_);
    context_.codes.run.rewriter().commit("{0} as what it was made of", patch_);
  }

  // A node over pictures, what is added to its result, and an activation.
  void convolve(std::string_view op, std::vector<PatchValue> operands, bool is_last, std::string_view domain = {}) {
    const ops::Dims* const dims = context_.inferred.dims(operand(0));
    if (is_last && (dims == nullptr || dims->size() < 3)) return;
    std::vector<int64_t> to_planes(dims == nullptr ? 0 : dims->size());
    std::iota(to_planes.begin(), to_planes.end(), 0);
    std::vector<int64_t> to_last = to_planes;
    if (is_last) {
      std::rotate(to_planes.begin() + 1, to_planes.end() - 1, to_planes.end());
      std::rotate(to_last.begin() + 1, to_last.begin() + 2, to_last.end());
    }
    operands[0] = turned(operands[0], to_planes);
    PatchValue made = added({.op = op,
                             .domain = domain,
                             .name = model()[node_].name,
                             .operands = std::move(operands),
                             .attributes = attributes({"auto_pad", "ceil_mode", "count_include_pad", "dilations",
                                                       "group", "kernel_shape", "pads", "strides"})});
    if (op == "Conv") {
      if (has(3)) made = applied("Add", {made, turned(operand(3), to_planes)});
      made = activated(made, facts_.floats("activation_params"));
    }
    finish(turned(made, to_last));
  }

  // An operand of a product as it is multiplied; nullopt: its rank is not known.
  std::optional<PatchValue> turned_operand(uint32_t index, std::string_view batch, std::string_view matrix) {
    const bool turns_batch = facts_.integer(batch, 0) != 0;
    const bool turns_matrix = facts_.integer(matrix, 0) != 0;
    if (!turns_batch && !turns_matrix) return operand(index);
    const ops::Dims* const dims = context_.inferred.dims(operand(index));
    if (dims == nullptr) return std::nullopt;
    const size_t rank = dims->size();
    std::vector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (turns_batch && rank > 2) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (turns_matrix && rank > 1) std::swap(order[rank - 2], order[rank - 1]);
    return turned(operand(index), order);
  }

  PatchValue activated(PatchValue x, const std::vector<double>& given) {
    const std::string_view name = facts_.string("activation", "");
    const auto parameter = [&](size_t i, double otherwise) { return i < given.size() ? given[i] : otherwise; };
    std::vector<ir::Attribute> attributes;
    if (name.empty() || name == "Identity") return x;
    if (name == "Clip") return clipped(x, parameter(0, -HUGE_VAL), parameter(1, HUGE_VAL));
    if (name == "ScaledTanh") {
      const PatchValue inner = applied("Tanh", {applied("Mul", {x, number(parameter(1, 1))})});
      return applied("Mul", {inner, number(parameter(0, 1))});
    }
    if (name == "Affine") {
      return applied("Add", {applied("Mul", {x, number(parameter(0, 1))}), number(parameter(1, 0))});
    }
    if (name == "LeakyRelu") attributes = {attribute("alpha", parameter(0, 0.01))};
    if (name == "Elu" || name == "ThresholdedRelu") attributes = {attribute("alpha", parameter(0, 1))};
    if (name == "HardSigmoid")
      attributes = {attribute("alpha", parameter(0, 0.2)), attribute("beta", parameter(1, 0.5))};
    return added({.op = name, .operands = {x}, .attributes = std::move(attributes)});
  }
  PatchValue clipped(PatchValue x, double least, double greatest) {
    if (version_ >= kFirstClipOperands) {
      std::vector<PatchValue> operands = {x, std::isinf(least) ? PatchValue() : number(least)};
      if (!std::isinf(greatest)) operands.push_back(number(greatest));
      return applied("Clip", std::move(operands));
    }
    std::vector<ir::Attribute> bounds;
    if (!std::isinf(least)) bounds.push_back(attribute("min", least));
    if (!std::isinf(greatest)) bounds.push_back(attribute("max", greatest));
    return added({.op = "Clip", .operands = {x}, .attributes = std::move(bounds)});
  }

  PatchValue gelu_of(PatchValue x) {
    const PatchValue inner = applied("Erf", {applied("Div", {x, number(std::numbers::sqrt2)})});
    return applied("Mul", {applied("Mul", {x, applied("Add", {inner, number(1)})}), number(0.5)});
  }
  PatchValue fast_gelu_of(PatchValue x) {
    const PatchValue cube = applied("Mul", {applied("Pow", {x, number(3)}), number(0.044715)});
    const PatchValue inner = applied("Mul", {applied("Add", {cube, x}), number(std::sqrt(2 * std::numbers::inv_pi))});
    const PatchValue grown = applied("Add", {applied("Tanh", {inner}), number(1)});
    return applied("Mul", {applied("Mul", {x, grown}), number(0.5)});
  }

  // The sum of two operands and perhaps a bias, and its normalisation by factors.
  void normalize(std::string_view op, std::vector<PatchValue> factors, uint32_t bias) {
    for (const uint32_t unknown : {1U, 2U}) {
      const auto& results = model()[node_].results;
      if (unknown < results.size() && results[unknown].valid() && model()[results[unknown]].first_use != nullptr)
        return;
    }
    if (op == "LayerNormalization" && !has(3)) factors.pop_back();
    const PatchValue sum = biased(applied("Add", {operand(0), operand(1)}), bias);
    std::vector<PatchValue> operands = {sum};
    operands.insert(operands.end(), factors.begin(), factors.end());
    const PatchValue made = added({.op = op,
                                   .name = model()[node_].name,
                                   .operands = std::move(operands),
                                   .attributes = {attribute("epsilon", facts_.floating("epsilon", 1e-12))}});
    const auto& results = model()[node_].results;
    if (results.size() > 3 && results[3].valid()) patch_.replace(results[3], sum);
    finish(made);
  }

  bool spell_dequantized() {
    const std::array<uint32_t, 3> left_places = {0, 2, 4}, right_places = {1, 3, 5};
    const std::optional<Codes> left = codes(left_places);
    const std::optional<Codes> right = codes(right_places);
    const tensor::Tensor* const constant = context_.codes.run.constant(operand(1));
    if (!left || !left->have_one_scale() || !right || (constant != nullptr && constant->shape().size() != 2))
      return false;
    const std::optional<PatchValue> weights = context_.codes.dequantize_right(patch_, *right, 1);
    if (!weights) return false;
    finish(biased(applied("MatMul", {CodeSpelling::dequantize(patch_, *left), *weights}), 6));
    return true;
  }
  std::optional<Codes> codes(const std::array<uint32_t, 3>& places) {
    const ValueId value = operand(places[0]);
    const std::optional<std::vector<double>> zeros = context_.codes.zeros(operand(places[2]));
    Codes found{value, context_.codes.dtype_of(value), context_.codes.numbers(operand(places[1])), {}};
    if (found.scales.empty() || !zeros) return std::nullopt;
    found.zeros = *zeros;
    return found;
  }

  struct Left {
    PatchValue codes, zero, scale;
  };
  struct Right {
    uint32_t codes, scale, zero, bias;
  };
  void spell_sums(const Left& left, const Right& right) {
    std::vector<PatchValue> operands = {left.codes, operand(right.codes), left.zero};
    if (has(right.zero)) operands.push_back(operand(right.zero));
    const PatchValue sums = applied("MatMulInteger", std::move(operands));
    const ir::Attribute to = ir::Attribute::of(context_.codes.run.edit().intern("to"), int64_t{1});
    const PatchValue floats = added({.op = "Cast", .operands = {sums}, .attributes = {to}});
    const PatchValue scale = applied("Mul", {left.scale, operand(right.scale)});
    finish(biased(applied("Mul", {floats, scale}), right.bias));
  }

  Context& context_;
  NodeId node_;
  ops::Node facts_;
  int64_t version_;
  ir::Patch patch_;
};

struct Rule {
  std::string_view op;
  void (Speller::*spell)();
};
constexpr std::array kRules = {
    Rule{"FusedConv", &Speller::convolution},
    Rule{"NhwcConv", &Speller::convolution_of_last},
    Rule{"NhwcFusedConv", &Speller::convolution_of_last},
    Rule{"QLinearConv", &Speller::convolution_of_codes},
    Rule{"NhwcMaxPool", &Speller::pool_of_last},
    Rule{"QLinearAveragePool", &Speller::pool_of_codes},
    Rule{"QLinearGlobalAveragePool", &Speller::pool_of_codes},
    Rule{"FusedGemm", &Speller::gemm},
    Rule{"FusedMatMul", &Speller::product},
    Rule{"TransposeMatMul", &Speller::product},
    Rule{"Gelu", &Speller::gelu},
    Rule{"BiasGelu", &Speller::gelu_with_bias},
    Rule{"FastGelu", &Speller::fast_gelu},
    Rule{"GemmFastGelu", &Speller::product_with_fast_gelu},
    Rule{"QuickGelu", &Speller::quick_gelu},
    Rule{"BiasAdd", &Speller::sum_with_bias},
    Rule{"SkipLayerNormalization", &Speller::normalization},
    Rule{"SkipSimplifiedLayerNormalization", &Speller::simplified_normalization},
    Rule{"MatMulIntegerToFloat", &Speller::integer_product},
    Rule{"DynamicQuantizeMatMul", &Speller::dynamic_product},
};

bool has_known_type(Context& context, NodeId node) {
  constexpr std::array kTypes = {DType::float32, DType::float16, DType::float64, DType::uint8, DType::int8};
  return std::ranges::find(kTypes, context.codes.dtype_of(ir::result(context.codes.model(), node))) != kTypes.end();
}

void spell(passes::PassRun& run) {
  Context context{{run}, passes::Inferred(run)};
  for (const NodeId node : microsoft_nodes(run)) {
    if (run.rewriter().is_done()) return;
    const auto rule = std::ranges::find(kRules, run.model().text(run.model()[node].op), &Rule::op);
    if (rule != kRules.end() && has_known_type(context, node)) (Speller(context, node).*rule->spell)();
  }
}

}  // namespace

void spell_fused(ir::Model& model, ir::Rewriter& rewriter) {
  if (schema::imported_version(model) < kFirstVersion) return;
  const std::array<passes::Pass, 1> pass = {{{.name = "spell-fused",
                                              .summary = "fused operators as those that they were made of",
                                              .pass_class = passes::PassClass::rounding,
                                              .run = spell}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
