#include "engine/program/layer_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/layers/layer.h"
#include "engine/program/program.h"

namespace assay::engine {
namespace {

std::string format_of(const TensorDesc& desc) {
  if (!desc.exists()) return "";
  if (has_layout(desc, Layout::plain)) return "linear";
  return has_layout(desc, Layout::channels_last) ? "channels last" : "strided";
}

LayerTensor describe(const Program& program, size_t number) {
  const Slot& slot = program.slots()[number];
  const ir::Model& model = program.model();
  LayerTensor tensor{.name = std::string(model.text(model[slot.value].name)), .dims = {}, .format = {}};
  tensor.dtype = slot.desc.dtype;
  tensor.dims = slot.desc.dims;
  tensor.format = format_of(slot.desc);
  if (slot.constant != nullptr) {
    tensor.dtype = slot.constant->dtype();
    tensor.dims = slot.constant->shape();
  }
  return tensor;
}

std::vector<LayerTensor> describe(const Program& program, const std::vector<std::optional<size_t>>& slots) {
  std::vector<LayerTensor> tensors;
  for (const std::optional<size_t>& slot : slots) {
    if (slot) tensors.push_back(describe(program, *slot));
  }
  return tensors;
}

}  // namespace

std::string layer_op(const ir::Model& model, ir::NodeId node) {
  for (const ir::Function& function : model.functions()) {
    if (function.domain != model[node].domain || function.name != model[node].op) continue;
    std::string ops;
    for (const ir::NodeId inner : ir::nodes(model, function.body)) {
      ops += ops.empty() ? "" : "+";
      ops += model.text(model[inner].op);
    }
    return ops;
  }
  return std::string(model.text(model[node].op));
}

std::vector<LayerRecord> describe_layers(const Program& program, const NodeOrigins& origins) {
  const ir::Model& model = program.model();
  std::vector<LayerRecord> layers;
  for (const Step& step : program.steps()) {
    LayerRecord& layer = layers.emplace_back();
    layer.tactic = step.tactic;
    layer.device = program.devices()[step.device].name();
    layer.inputs = describe(program, step.inputs);
    layer.outputs = describe(program, step.outputs);
    if (!step.node.valid()) {
      layer.op = step.is_transfer ? "Transfer" : "Copy";
      continue;
    }
    layer.name = layer_name(model, step.node);
    const std::vector<ir::NodeId> nodes = step.part ? step.part_nodes : std::vector{step.node};
    for (const ir::NodeId node : nodes) {
      layer.op += (layer.op.empty() ? "" : "+") + layer_op(model, node);
      const auto found = origins.find(layer_name(model, node));
      if (found != origins.end()) layer.origins.insert(layer.origins.end(), found->second.begin(), found->second.end());
    }
  }
  return layers;
}

std::string title_of(const LayerRecord& layer) {
  constexpr size_t kMostNamed = 4;
  if (layer.name.empty()) {
    const std::string verb = layer.op == "Transfer" ? "transfer" : "copy";
    return layer.inputs.empty() ? verb : fmt::format("{} of {}", verb, layer.inputs[0].name);
  }
  std::vector<std::string> nodes;
  for (const std::string& origin : layer.origins) {
    if (std::ranges::find(nodes, origin) == nodes.end()) nodes.push_back(origin);
  }
  if (nodes.empty()) return layer.name;
  const size_t left =
      nodes.size() > kMostNamed ? nodes.size() - kMostNamed + 1 : 0;  // one name more takes no more room
  nodes.resize(nodes.size() - left);
  return join(nodes, " + ") + (left == 0 ? "" : fmt::format(" + {} more", left));
}

std::map<std::string, std::string, std::less<>> tactics_of(const std::vector<LayerRecord>& layers) {
  std::map<std::string, std::string, std::less<>> tactics;
  for (const LayerRecord& layer : layers) {
    if (!layer.name.empty()) tactics.emplace(layer.name, layer.tactic);
  }
  return tactics;
}

}  // namespace assay::engine
