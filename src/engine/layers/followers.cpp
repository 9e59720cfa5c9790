#include "engine/layers/followers.h"

#include <limits>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kHighest = std::numeric_limits<float>::max();

// Left out: `otherwise`. Nullopt: it is computed.
std::optional<float> bound_of(const Layer& layer, ir::NodeId clip, uint32_t index, float otherwise) {
  const ir::ValueId value = layer.operand(clip, index);
  if (!value.valid()) return otherwise;
  const tensor::Tensor* const constant = layer.constant(value);
  if (constant == nullptr || constant->count() != 1 || !is_short_float(constant->dtype())) return std::nullopt;
  return static_cast<float>(tensor::load_elements<double>(*constant)[0]);
}

}  // namespace

bool is_used_once(const Layer& layer, ir::ValueId value) {
  const ir::Use* const use = (*layer.model)[value].first_use;
  return use != nullptr && use->next == nullptr;
}

int added_input(const Layer& layer, size_t done) {
  if (layer.nodes.size() <= done || layer.op(layer.nodes[done]) != "Add") return -1;
  const ir::ValueId product = layer.result(layer.nodes[done - 1], 0);
  const ir::ValueId first = layer.operand(layer.nodes[done], 0);
  if (!is_used_once(layer, product)) return -1;
  const int input = layer.input_of(first == product ? layer.operand(layer.nodes[done], 1) : first);
  return input >= 0 && layer.inputs[static_cast<size_t>(input)] == layer.outputs[0] ? input : -1;
}

std::optional<std::array<float, 2>> bounds_of_clip(const Layer& layer, ir::NodeId clip) {
  constexpr int64_t kFirstWithInputs = 11;
  if (layer.facts(clip).version() < kFirstWithInputs) return std::nullopt;
  const std::optional<float> low = bound_of(layer, clip, 1, kLowest);
  const std::optional<float> high = bound_of(layer, clip, 2, kHighest);
  return low && high && *low <= *high ? std::optional(std::array{*low, *high}) : std::nullopt;
}

std::optional<std::array<float, 2>> bounds_of(const Layer& layer, ir::NodeId node, ir::ValueId given) {
  if (layer.operand(node, 0) != given || !is_used_once(layer, given)) return std::nullopt;
  if (layer.op(node) == "Relu") return std::array{0.0F, std::numeric_limits<float>::infinity()};
  return layer.op(node) == "Clip" ? bounds_of_clip(layer, node) : std::nullopt;
}

}  // namespace assay::engine
