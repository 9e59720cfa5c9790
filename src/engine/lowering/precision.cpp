#include "engine/lowering/precision.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "convert/precision/convert_floats.h"
#include "engine/lowering/round_weights.h"
#include "engine/lowering/wide_halves.h"
#include "ir/walk.h"
#include "ops/operator.h"
#include "ops/traits.h"
#include "passes/opset/opset_options.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using tensor::DType;

// Operators that admit bfloat16 do so from this version of ai.onnx on, and all steps know the Casts to float16 from the
// other one on; a model that cannot be raised keeps more in float32.
constexpr int64_t kFirstWithBfloat16 = 22;
constexpr int64_t kFirstWithFloat16 = 9;

// The nodes that stand for the named ones: a conversion may have changed the model before.
std::set<ir::NodeId> named(const ir::Model& model, const std::vector<std::string>& names, Diagnostics& findings) {
  std::vector<ir::NodeId> nodes;
  for (const ir::NodeId node : ir::live_nodes(model)) nodes.push_back(node);
  const convert::LayerChoice choice{.excluded = names};
  const convert::LayerFilter filter(model, nodes, choice, findings);
  std::set<ir::NodeId> found;
  for (const ir::NodeId node : nodes) {
    if (filter.refusal(node, model.text(model[node].op)).empty()) continue;
    const std::vector<ir::NodeId> sources = model.origins().of(node);
    found.insert(sources.begin(), sources.end());
  }
  return found;
}

bool stands_for(const ir::Model& model, ir::NodeId node, const std::set<ir::NodeId>& sources) {
  return std::ranges::any_of(model.origins().of(node), [&](ir::NodeId source) { return sources.contains(source); });
}

void raise_opset(ir::Model& model, ir::Rewriter& rewriter, int64_t version) {
  if (schema::imported_version(model) >= version) return;
  constexpr std::array<std::string_view, 1> kChange = {"change-opset"};
  passes::Options options;
  options.of<passes::OpsetOptions>().version = version;
  passes::Pipeline(model, rewriter, options).run(kChange);
}

// True for operators of the kinds that LoweringRules::has_wide_kinds names. Pictures that grow or shrink by nearest
// elements are moved.
bool is_of_wide_kind(const ir::Model& model, ir::NodeId id) {
  const ir::Node& node = model[id];
  const ops::Traits& traits = ops::traits(model, id);
  const bool is_product = traits.is(ops::Nature::product), is_sampled = traits.is(ops::Nature::sampling);
  if (model.text(node.domain) == ops::kMicrosoft) return is_product;
  if (!model.text(node.domain).empty()) return false;
  const bool is_resized = is_sampled && !traits.sizes.is_empty();
  const bool is_other_product = is_product && traits.product == ops::ProductKind::other;
  if (!is_other_product && !is_sampled && !traits.is(ops::Nature::recurrence)) return false;
  const ir::Attribute* const mode = is_resized ? model.find_attribute(node, "mode") : nullptr;
  return !is_resized || (mode != nullptr && model.text(mode->string()) != "nearest");
}

// True for a product of ONNX Runtime's by constant codes, which no device has a kernel of bfloat16 for.
bool multiplies_codes(const ir::Model& model, ir::NodeId id) {
  const ir::Node& node = model[id];
  if (model.text(node.domain) != ops::kMicrosoft || !ops::traits(model, id).is(ops::Nature::product)) return false;
  if (node.operands.size() < 2 || !node.operands[1].value.valid()) return false;
  const ir::TensorId codes = model[node.operands[1].value].constant;
  return codes.valid() && tensor::is_integer(model[codes].tensor.dtype());
}

}  // namespace

void set_machine(Precision& precision, const Device& device, bool is_strict, std::span<const std::string> excluded) {
  precision.rules = device.rules();
  if (is_strict) precision.rules.multiplies_float8 = false;
  for (const std::string& implementation : excluded) device.leave_out(implementation, precision.rules);
  precision.rounds_halves = is_strict || precision.declares_float16();
}

void check_precision(const ir::Model& source, const Precision& precision, Diagnostics& findings) {
  for (const auto* names : {&precision.float32_layers, &precision.bfloat16_layers, &precision.float16_layers}) {
    try {
      named(source, *names, findings);
    } catch (Error& error) {
      throw error.about("layer_precisions");
    }
  }
}

NarrowLayers::NarrowLayers(const ir::Model& source, const Precision& precision) : precision_(precision) {
  Diagnostics told;  // by check_precision
  float32_ = named(source, precision.float32_layers, told);
  bfloat16_ = named(source, precision.bfloat16_layers, told);
  float16_ = named(source, precision.float16_layers, told);
}

bool NarrowLayers::is_permitted(DType half) const {
  return half == DType::float16 ? precision_.float16 : precision_.bfloat16 && precision_.rules.has(half);
}

void NarrowLayers::declare_float16(ir::Model& model, ir::Rewriter& rewriter) const {
  if (precision_.declares_float16()) convert(model, rewriter, DType::float16);
}

void NarrowLayers::store_bfloat16(ir::Model& model, ir::Rewriter& rewriter) const {
  const bool multiplies = precision_.rules.has(DType::bfloat16);
  const bool rounds = precision_.bfloat16 && !multiplies;
  if (rounds) {
    const auto is_kept = [&](ir::NodeId node) {
      return stands_for(model, node, float32_) || stands_for(model, node, float16_);
    };
    round_weights(model, rewriter, precision_.rules.few_rows, is_kept);
  }
  if (bfloat16_.empty() && (rounds || !precision_.bfloat16)) return;
  convert(model, rewriter, DType::bfloat16);
  if (!multiplies) widen_halves(model, rewriter, DType::bfloat16, true);
}

bool NarrowLayers::is_wide(const ir::Model& model, ir::NodeId node) const {
  return multiplies_codes(model, node) || (precision_.rules.has_wide_kinds && is_of_wide_kind(model, node));
}

convert::HalfOptions NarrowLayers::options(const ir::Model& model, DType half) const {
  convert::HalfOptions options;
  options.half = half;
  options.keeps_misfits = false;  // an overflow is what is looked for
  for (const ir::NodeId node : ir::live_nodes(model)) {
    const auto is_one_of = [&](const std::set<ir::NodeId>& sources) { return stands_for(model, node, sources); };
    if (is_one_of(asked(half))) {
      options.forced_nodes.insert(node);
    } else if (!is_permitted(half) || is_one_of(float32_) || is_one_of(float16_) || is_one_of(bfloat16_)) {
      options.choice.kept.emplace(node, "it has another type");
    } else if (half == DType::bfloat16 && is_wide(model, node)) {
      options.choice.kept.emplace(node, "no kernel computes it in 16 bits");
    }
  }
  return options;
}

void NarrowLayers::convert(ir::Model& model, ir::Rewriter& rewriter, DType half) const {
  raise_opset(model, rewriter, half == DType::float16 ? kFirstWithFloat16 : kFirstWithBfloat16);
  Diagnostics findings;
  const convert::HalfReport report = convert::convert_floats(model, rewriter, options(model, half), findings);
  if (!precision_.is_obeyed) return;
  for (const convert::Layer& layer : report.layers) {
    if (layer.converted || !model[layer.node].alive || !stands_for(model, layer.node, asked(half))) continue;
    throw Error(ErrorCode::unsupported,
                fmt::format("the layer `{}` cannot be {}: {}", printable(layer.name), tensor::name(half), layer.reason))
        .about("layer_precisions");
  }
}

}  // namespace assay::engine
