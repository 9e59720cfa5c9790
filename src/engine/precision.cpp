#include "engine/precision.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "convert/precision/convert_floats.h"
#include "engine/lowering/round_weights.h"
#include "engine/lowering/wide_halves.h"
#include "ir/walk.h"
#include "passes/opset/opset_options.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

// Operators that admit it do so from this version of ai.onnx on; a model that cannot be raised keeps more in float32.
constexpr int64_t kFirstWithBfloat16 = 22;

std::set<ir::NodeId> named(const ir::Model& model, const std::vector<std::string>& names, Diagnostics& findings) {
  std::vector<ir::NodeId> nodes;
  for (const ir::NodeId node : ir::live_nodes(model)) nodes.push_back(node);
  const convert::LayerChoice choice{.excluded = names};
  const convert::LayerFilter filter(model, nodes, choice, findings);
  std::set<ir::NodeId> found;
  for (const ir::NodeId node : nodes) {
    if (!filter.refusal(node, model.text(model[node].op)).empty()) found.insert(node);
  }
  return found;
}

bool stands_for(const ir::Model& model, ir::NodeId node, const std::set<ir::NodeId>& sources) {
  return std::ranges::any_of(model.origins().of(node), [&](ir::NodeId source) { return sources.contains(source); });
}

void raise_opset(ir::Model& model, ir::Rewriter& rewriter) {
  if (schema::imported_version(model) >= kFirstWithBfloat16) return;
  constexpr std::array<std::string_view, 1> kChange = {"change-opset"};
  passes::Options options;
  options.of<passes::OpsetOptions>().version = kFirstWithBfloat16;
  passes::Pipeline(model, rewriter, options).run(kChange);
}

}  // namespace

void set_machine(Precision& precision, const Device& device, bool is_strict) {
  precision.multiplies_bfloat16 = device.multiplies(tensor::DType::bfloat16);
  precision.rounds_halves = is_strict;
}

void check_precision(const ir::Model& source, const Precision& precision, Diagnostics& findings) {
  for (const auto* names : {&precision.float32_layers, &precision.bfloat16_layers}) {
    try {
      named(source, *names, findings);
    } catch (Error& error) {
      throw error.about("layer_precisions");
    }
  }
}

Bfloat16Layers::Bfloat16Layers(const ir::Model& source, const Precision& precision) : precision_(precision) {
  Diagnostics told;  // by check_precision
  float32_ = named(source, precision.float32_layers, told);
  bfloat16_ = named(source, precision.bfloat16_layers, told);
}

bool Bfloat16Layers::is_kept(const ir::Model& model, ir::NodeId node) const {
  if (stands_for(model, node, bfloat16_)) return false;
  return !precision_.bfloat16 || !precision_.multiplies_bfloat16 || stands_for(model, node, float32_);
}

void Bfloat16Layers::store(ir::Model& model, ir::Rewriter& rewriter) const {
  const bool rounds = precision_.bfloat16 && !precision_.multiplies_bfloat16;
  if (rounds) round_weights(model, rewriter, [&](ir::NodeId node) { return stands_for(model, node, float32_); });
  if (bfloat16_.empty() && (rounds || !precision_.bfloat16)) return;
  convert(model, rewriter);
  if (!precision_.multiplies_bfloat16) widen_halves(model, rewriter, tensor::DType::bfloat16, true);
}

void Bfloat16Layers::convert(ir::Model& model, ir::Rewriter& rewriter) const {
  raise_opset(model, rewriter);
  convert::HalfOptions half;
  half.half = tensor::DType::bfloat16;
  for (const ir::NodeId node : ir::live_nodes(model)) {
    if (is_kept(model, node)) half.choice.kept.emplace(node, "it stays float32");
  }
  Diagnostics findings;
  const convert::HalfReport report = convert::convert_floats(model, rewriter, half, findings);
  if (!precision_.is_obeyed) return;
  for (const convert::Layer& layer : report.layers) {
    if (layer.converted || !model[layer.node].alive || !stands_for(model, layer.node, bfloat16_)) continue;
    throw Error(ErrorCode::unsupported,
                fmt::format("the layer `{}` cannot be bfloat16: {}", printable(layer.name), layer.reason))
        .about("layer_precisions");
  }
}

}  // namespace assay::engine
